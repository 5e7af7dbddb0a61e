import { refuse } from './refuse.ts'

/** The executor counts free descriptors with this function: a browser thread needs no descriptors. */
export function openSync(path: string): number {
  return path === '/dev/null' ? 0 : refuse('fs', 'openSync')()
}

export function closeSync(): void {}
