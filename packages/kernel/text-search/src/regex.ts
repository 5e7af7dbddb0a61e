import { RE2JS } from 're2js'

/** A compiled regular expression. This module imports no other module of this workspace, because the worker also loads it. */
export interface Regex {
  /** Returns the index of the first match at or after `from`, in UTF-16 units, or -1. */
  find(text: string, from: number): number
  /** Number of instructions. Multiplied by the length of a line, it limits the work. */
  readonly size: number
}

export function compileRegex(pattern: string, caseSensitive: boolean): Regex {
  const compiled = RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  return {
    size: compiled.programSize(),
    find(text, from) {
      if (!compiled.test(text)) return -1
      const matcher = compiled.matcher(text)
      return matcher.find(from) ? matcher.start() : -1
    },
  }
}
