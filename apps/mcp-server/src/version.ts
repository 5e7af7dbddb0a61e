import { createRequire } from 'node:module'

/** The version of this package, which the server reports to clients. */
export const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
