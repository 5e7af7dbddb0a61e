import { RE2JS, RE2JSException } from 're2js'
import { globToRegex, invalidGlob } from './glob-syntax.ts'

/** Says which files a search looks at. Paths are relative: `src/a.ts`, without a slash in front. */
export interface GlobFilter {
  /** The file is to be searched. */
  matches(path: string): boolean
  /** Nothing at or below this directory can match: it need not be entered. */
  excludes(directory: string): boolean
}

interface Glob {
  readonly regex: RE2JS
  /** Without a slash: it is about a name, at any depth. */
  readonly byName: boolean
}

const everything: GlobFilter = { matches: () => true, excludes: () => false }

/**
 * A filter for globs, which are data: nothing in them reaches a shell, and they are matched in linear time.
 *
 * A file matches when at least one glob without `!` does (or there is none) and no glob with `!` excludes it. A glob without
 * `/` is matched against the name at any depth, one with `/` against the whole path (a slash in front changes nothing else;
 * one at the end means everything below). A glob with `!` excludes a directory with everything below it. Dotfiles are
 * names like all others. See `globToRegex` for the syntax.
 *
 * @throws WorkspaceError `EINVAL` for a glob that is empty, no string, over-long, or not closed.
 */
export function createGlobFilter(globs: readonly string[] = []): GlobFilter {
  if (globs.length === 0) return everything
  const included: Glob[] = []
  const excluded: Glob[] = []
  for (const glob of globs) {
    if (typeof glob !== 'string') throw invalidGlob(String(glob), 'is not a string', 'pass globs as strings')
    if (glob.startsWith('!')) excluded.push(compile(glob.slice(1), glob))
    else included.push(compile(glob, glob))
  }
  const excludes = (path: string): boolean => excluded.length > 0 && prefixes(path).some((it) => some(excluded, it))
  return { matches: (path) => (included.length === 0 || some(included, path)) && !excludes(path), excludes }
}

function compile(glob: string, given: string): Glob {
  const byName = !glob.includes('/')
  const path = glob.replace(/^(?:\.?\/)+/u, '').replace(/\/$/u, '/**')
  if (path === '') throw invalidGlob(given, 'is empty', 'give a pattern such as `*.ts`')
  const source = globToRegex(path)
  try {
    return { regex: RE2JS.compile(source), byName }
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw invalidGlob(given, 'has a character class that is no range', 'write ranges as `[a-z]`', error)
  }
}

function some(globs: readonly Glob[], path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return globs.some(({ regex, byName }) => regex.matches(byName ? name : path))
}

/** `a`, `a/b`, `a/b/c`. */
function prefixes(path: string): string[] {
  const found: string[] = []
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) found.push(path.slice(0, slash))
  found.push(path)
  return found
}
