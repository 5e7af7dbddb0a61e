import { parsePath } from './virtual-path.ts'
import type { ParsedPath, UnresolvedPath, VirtualPath } from './virtual-path.ts'

export type AliasNames = ReadonlySet<string>

export interface InputOptions {
  readonly base: VirtualPath
  readonly aliases: AliasNames
  readonly operation: string
}

/** Works like {@link parsePath}, but first removes one leading alias segment. */
export function parseInput(input: string, { base, aliases, operation }: InputOptions): ParsedPath {
  const parsed = parsePath(input, { base, operation })
  if (aliases.size === 0) return parsed
  const { path, directory } = parsed
  if (typeof path === 'string') {
    const stripped = stripAlias(path, aliases)
    return stripped === path ? parsed : { path: stripped, directory: directory && stripped !== '/' }
  }
  const [first, ...rest] = path.segments
  if (first === undefined || !aliases.has(first)) return parsed // @defence `if (…) ` through an alias
  // Parses again: `/workspace/..` climbs above the root, as `/..` does.
  return parsePath(`/${rest.join('/')}${directory ? '/' : ''}`, { operation })
}

export function stripAlias(path: VirtualPath, aliases: AliasNames): VirtualPath {
  if (aliases.size === 0) return path
  const slash = path.indexOf('/', 1)
  const first = slash === -1 ? path.slice(1) : path.slice(1, slash)
  if (!aliases.has(first)) return path
  return (slash === -1 ? '/' : path.slice(slash)) as VirtualPath
}

export function displayPath(path: VirtualPath | UnresolvedPath): VirtualPath {
  return typeof path === 'string' ? path : (`/${path.segments.join('/')}` as VirtualPath)
}

// eslint-disable-next-line no-control-regex -- distinguishes ASCII from the rest
const onlyAscii = /^[\u0000-\u007f]*$/

/**
 * Returns a name as case-insensitive file systems compare it: case folded, in NFC. Upper-casing comes first, to fold `ß` and `ſ`.
 * Callers must fold whole names: sigma has a different lower case at the end of a word.
 */
export function foldName(name: string): string {
  if (onlyAscii.test(name)) return name.toLowerCase()
  return name.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC')
}
