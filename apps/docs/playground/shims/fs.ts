import { refuse } from './refuse.ts'

/** The executor counts free descriptors by this: a browser thread takes none. */
export function openSync(path: string): number {
  return path === '/dev/null' ? 0 : refuse('fs', 'openSync')()
}

export function closeSync(): void {}
