import { refuse } from './refuse.ts'

/** The executor counts free descriptors on this one: a thread of the browser takes none. */
export function openSync(path: string): number {
  return path === '/dev/null' ? 0 : refuse('fs', 'openSync')()
}

export function closeSync(): void {}
