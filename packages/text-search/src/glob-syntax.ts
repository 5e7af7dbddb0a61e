import { WorkspaceError } from '@ws/core'

/*
 * Globs are turned into RE2 here instead of by one of the well-known packages, since those match with the language's own
 * backtracking engine: `*a*a*a*a*a*a*b` against a name of 100 letters takes them minutes, and a glob may come from a model.
 */

/** Alternatives and nesting cost states; no glob that a person writes comes near. */
const maxGlobLength = 1000

/**
 * The RE2 source of one glob, to be matched against a whole relative path.
 *
 * `*` and `?` match within one name, `**` as a whole component any number of directories (at the end: everything below),
 * `[a-z]` and `[!a-z]` one character but `/`, `{a,b}` alternatives, `\` the next character itself. Dots are not special.
 *
 * @throws WorkspaceError `EINVAL` for what is not closed.
 */
export function globToRegex(glob: string): string {
  if (glob.length > maxGlobLength)
    throw invalidGlob(glob, `has more than ${maxGlobLength} characters`, 'use a shorter one')
  const characters = [...glob]
  let source = ''
  let depth = 0
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? ''
    if (character === '*') {
      const length = starsAt(characters, at)
      const whole = length === 2 && isBorder(characters[at - 1]) && isBorder(characters[at + 2])
      // with the slash behind it, so that `a/**/b` matches `a/b`; names may hold line breaks
      const last = characters[at + 2] === undefined
      source += !whole ? '[^/]*' : last ? '(?s:.+)' : '(?:[^/]+/)*'
      at += length - 1 + (whole && !last ? 1 : 0)
    } else if (character === '?') source += '[^/]'
    else if (character === '[') {
      const end = classEnd(characters, at)
      if (end < 0) throw invalidGlob(glob, 'has a `[` that is not closed', 'close it, or write `\\[` for the character')
      source += classSource(characters.slice(at + 1, end))
      at = end
    } else if (character === '{') {
      depth += 1
      source += '(?:'
    } else if (character === '}' && depth > 0) {
      depth -= 1
      source += ')'
    } else if (character === ',' && depth > 0) source += '|'
    else if (character === '\\') {
      at += 1
      const escaped = characters[at]
      if (escaped === undefined) throw invalidGlob(glob, 'ends in `\\`', 'write `\\\\` for the character')
      source += quote(escaped)
    } else source += quote(character)
  }
  if (depth > 0) throw invalidGlob(glob, 'has a `{` that is not closed', 'close it, or write `\\{` for the character')
  return source
}

function starsAt(characters: readonly string[], at: number): number {
  let length = 1
  while (characters[at + length] === '*') length += 1
  return length
}

function isBorder(character: string | undefined): boolean {
  return character === undefined || character === '/'
}

/** A `]` right behind the opening is a member, as everywhere. */
function classEnd(characters: readonly string[], start: number): number {
  const first = isNegation(characters[start + 1]) ? start + 2 : start + 1
  for (let at = first; at < characters.length; at += 1) {
    if (characters[at] === '\\') at += 1
    else if (characters[at] === ']' && at > first) return at
  }
  return -1
}

function classSource(members: readonly string[]): string {
  const negated = isNegation(members[0])
  let source = ''
  for (let at = negated ? 1 : 0; at < members.length; at += 1) {
    const member = members[at] ?? ''
    const range = member === '-' && at > (negated ? 1 : 0) && at < members.length - 1
    if (range) source += '-'
    else if (member === '\\' && at < members.length - 1) source += quote(members[(at += 1)] ?? '')
    else source += quote(member)
  }
  // what is negated still stays within one name
  return negated ? `[^/${source}]` : `[${source}]`
}

function isNegation(character: string | undefined): boolean {
  return character === '!' || character === '^'
}

function quote(character: string): string {
  return /^[\\^$.*+?()[\]{}|\-/&~]$/u.test(character) ? `\\${character}` : character
}

export function invalidGlob(glob: string, reason: string, remedy: string, native?: unknown): WorkspaceError {
  const shown = glob.length > 80 ? `${glob.slice(0, 80)}…` : glob
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'search',
    reason: `the glob ${JSON.stringify(shown)} ${reason}`,
    remedy,
    native,
  })
}
