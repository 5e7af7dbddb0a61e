import { hostname } from 'node:os'

/** Names this process for those who wait for it. */
export function holderName(): string {
  return `${hostname()}, process ${process.pid}`
}
