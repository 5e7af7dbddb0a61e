import { WorkspaceError } from '../errors.ts'

declare const virtualPathBrand: unique symbol
declare const mountPathBrand: unique symbol
declare const hostPathBrand: unique symbol

/**
 * A path for callers and models: absolute, `/`-separated, normalised.
 *
 * Invariants: starts with `/`; no empty, `.` or `..` segment; no trailing slash, except `/`; no NUL; well-formed Unicode;
 * at most {@link maxPathBytes} bytes, and {@link maxNameBytes} per segment, in UTF-8. The bytes of names do not change.
 */
export type VirtualPath = string & { readonly [virtualPathBrand]: true }

/** A path inside one mount, relative to the adapter's root. Has the invariants of {@link VirtualPath}. */
export type MountPath = string & { readonly [mountPathBrand]: true }

/** A real path on this machine. Only adapters and executors use it; error messages never contain it. */
export type HostPath = string & { readonly [hostPathBrand]: true }

/** A path with `..` after a name. Its meaning depends on links, so the workspace resolves it step by step under the policy. */
export interface UnresolvedPath {
  /** Segments from the root, without empty segments and `.`. At least one segment is `..` after a name. */
  readonly segments: readonly string[]
}

export interface ParsedPath {
  readonly path: VirtualPath | UnresolvedPath
  /** True if the input ended in `/`, `/.` or `/..`: the path must then be a directory. */
  readonly directory: boolean
}

export interface ParseOptions {
  /** The start of a relative path: a directory that is not a link. Default `/`. */
  readonly base?: VirtualPath | undefined
  /** The operation in error messages. Default `parse`. */
  readonly operation?: string | undefined
}

export const rootPath = '/' as VirtualPath
export const mountRoot = '/' as MountPath

/** Maximum bytes of a path in UTF-8, as on Linux (`PATH_MAX` without its NUL). */
export const maxPathBytes = 4095
/** Maximum UTF-16 units of an input, before `.`, `..` and repeated slashes are removed. */
const maxInputLength = 16_384
/** Maximum bytes of a name in UTF-8, as on Linux (`NAME_MAX`). */
export const maxNameBytes = 255

// An absolute path that is already normal: short ASCII segments without NUL, none of them `.` or `..`, no trailing slash.
// eslint-disable-next-line no-control-regex -- only NUL is excluded on purpose
const alreadyNormal = /^(?:\/(?!\.\.?(?:\/|$))[\u0001-\u002e\u0030-\u007f]{1,255})+$/
// eslint-disable-next-line no-control-regex -- distinguishes ASCII from the rest
const onlyAscii = /^[\u0000-\u007f]*$/
const encoder = new TextEncoder()

/**
 * Parses a {@link VirtualPath}. `""` and `.` mean the base. Removes repeated and trailing slashes, and `.`.
 * @throws WorkspaceError `EOUTSIDE` above the root; `EINVAL` for any other `..`, NUL, a lone surrogate or a non-string; `ENAMETOOLONG`
 */
export function parseVirtualPath(input: string, options: ParseOptions = {}): VirtualPath {
  const { path } = parsePath(input, options)
  if (typeof path === 'string') return path
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: options.operation ?? 'parse',
    path: input,
    reason: 'has `..` after a name, whose meaning depends on links',
    remedy: 'give the path without `..`',
  })
}

/** Works like {@link parseVirtualPath}, but keeps `..`, and returns whether the input requires a directory. */
export function parsePath(input: string, options: ParseOptions = {}): ParsedPath {
  if (typeof input === 'string') {
    if (input.length <= maxNameBytes && alreadyNormal.test(input))
      return { path: input as VirtualPath, directory: false }
    if (input === '/') return { path: rootPath, directory: false }
  }
  return parseSlowly(input, options)
}

function parseSlowly(input: string, { base = rootPath, operation = 'parse' }: ParseOptions): ParsedPath {
  if (typeof input !== 'string') {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation,
      reason: `the path must be a string, not ${input === null ? 'null' : typeof input}`,
      remedy: 'pass the path as a string such as `/notes/a.md`',
    })
  }
  if (input.length > maxInputLength) {
    throw tooLongError(input.slice(0, maxPathBytes), operation, `has ${input.length} characters`, maxPathBytes)
  }
  checkCharacters(input, operation) // @defence lone surrogates, over-long names

  const absolute = input.startsWith('/')
  const segments: string[] = absolute || base === '/' ? [] : base.slice(1).split('/')
  let fromBase = segments.length
  let depth = segments.length
  let resolved = true
  const given = input.split('/')
  for (const segment of given) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') {
      segments.push(segment)
      depth += 1
      continue
    }
    depth -= 1
    if (depth < 0) throw outsideError(input, operation) // @defence lone surrogates, over-long names
    // The base is a real directory, so `..` removes its last name. A name of the input may be a link, so its `..` remains.
    if (resolved && segments.length === fromBase) {
      segments.pop()
      fromBase -= 1
    } else {
      segments.push(segment)
      resolved = false
    }
  }
  const last = given.at(-1)
  const directory = segments.length > 0 && (last === '' || last === '.' || last === '..') && input !== ''
  checkLengths(segments, input, operation) // @defence lone surrogates, over-long names
  if (!resolved) return { path: { segments }, directory }
  return { path: `/${segments.join('/')}` as VirtualPath, directory: directory && given.length > 1 }
}

function checkCharacters(input: string, operation: string): void {
  if (input.includes('\0')) {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation,
      path: input.toWellFormed(),
      reason: 'contains a NUL character',
      remedy: 'remove it',
    })
  }
  if (!input.isWellFormed()) {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation,
      path: input.toWellFormed(),
      reason: 'contains a lone surrogate, which no file name can hold',
      remedy: 'give well-formed Unicode',
    })
  }
}

function checkLengths(segments: readonly string[], input: string, operation: string): void {
  let total = 0
  for (const segment of segments) {
    const bytes = onlyAscii.test(segment) ? segment.length : encoder.encode(segment).length
    if (bytes > maxNameBytes) throw tooLongError(input, operation, `has a name of ${bytes} bytes`, maxNameBytes)
    total += bytes + 1
  }
  if (total > maxPathBytes) throw tooLongError(input, operation, `is ${total} bytes long`, maxPathBytes)
}

function tooLongError(path: string, operation: string, what: string, limit: number): WorkspaceError {
  return new WorkspaceError({
    code: 'ENAMETOOLONG',
    operation,
    path,
    reason: `${what}; the limit is ${limit}`,
    remedy: 'use a shorter name',
  })
}

export function outsideError(path: string, operation: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EOUTSIDE',
    operation,
    path,
    reason: 'climbs above the root of the workspace',
    remedy: 'give a path below `/`',
  })
}

/**
 * Checks the path of an adapter call. Adapters call this function first, so that no adapter relies on its caller.
 * @throws WorkspaceError `EINVAL`, `ENAMETOOLONG` if the path breaks the invariants of {@link MountPath}
 */
export function assertMountPath(path: string, operation: string): asserts path is MountPath {
  if (typeof path === 'string' && ((path.length <= maxNameBytes && alreadyNormal.test(path)) || path === '/')) return
  const parsed = parsePath(path, { operation })
  if (parsed.path === path) return // @defence `if (…) ` an adapter called directly with a hostile path
  throw new WorkspaceError({
    code: 'EINVAL',
    operation,
    path,
    reason: 'is not a normalised absolute path',
    remedy: 'pass the result of `paths.parseMount`',
  })
}

/** Works like {@link parseVirtualPath}, for callers that use an adapter directly. */
export function parseMountPath(input: string, operation?: string): MountPath {
  return parseVirtualPath(input, { operation }) as string as MountPath
}

/** Returns true if `path` is `root` or lies below it. Compares whole components: `/threads/t12` is not within `/threads/t1`. */
export function isWithin<Path extends VirtualPath | MountPath>(path: Path, root: Path): boolean {
  if (root === '/' || path === root) return true
  // For long paths with an equal start, `startsWith` takes thirty times as long.
  return path.charCodeAt(root.length) === 47 && path.slice(0, root.length) === root // @defence `path.charCodeAt(root.length) === 47 && ` taken for `/t12`
}

/** Returns `path` relative to `root`: `/` for the root itself. `path` must be within `root`. */
export function relativeTo(path: VirtualPath, root: VirtualPath): MountPath
export function relativeTo(path: MountPath, root: MountPath): MountPath
export function relativeTo(path: string, root: string): MountPath {
  if (root === '/') return path as MountPath
  return (path.length === root.length ? '/' : path.slice(root.length)) as MountPath
}

export function joinPath(root: VirtualPath, path: MountPath): VirtualPath
export function joinPath(root: MountPath, path: MountPath): MountPath
export function joinPath(root: string, path: string): string {
  if (root === '/') return path
  return path === '/' ? root : root + path
}

export function childPath<Path extends VirtualPath | MountPath>(directory: Path, name: string): Path {
  return (directory === '/' ? `/${name}` : `${directory}/${name}`) as Path
}

/** Returns the parent directory; for `/`, returns `/`. */
export function parentPath<Path extends VirtualPath | MountPath>(path: Path): Path {
  const slash = path.lastIndexOf('/')
  return (slash <= 0 ? '/' : path.slice(0, slash)) as Path
}

/** Returns the first name of an absolute path; empty for `/`. */
export function topName(path: string): string {
  const slash = path.indexOf('/', 1)
  return path.startsWith('/') ? path.slice(1, slash === -1 ? undefined : slash) : ''
}

/** The last segment; `""` for `/`. */
export function baseName(path: VirtualPath | MountPath): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The segments of a path; none for `/`. */
export function segmentsOf(path: VirtualPath | MountPath): string[] {
  return path === '/' ? [] : path.slice(1).split('/')
}
