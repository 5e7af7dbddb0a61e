import type { VirtualPath, WorkspaceError } from '@ws/core'
import { showName } from '@ws/core/executor'

import type { Call } from '../session/session.ts'

/** Limit of notes. Beyond this limit, skipped files are not named. */
const mostNotes = 10
/** Limit of skipped paths kept in memory. */
const mostKept = 1000
/** Limit of skipped paths named in an answer. */
const mostNamed = 3

export function noteUnreadable(call: Call, { message }: WorkspaceError): void {
  if (call.notes.length < mostNotes) call.notes.push(`Left out: ${message}`)
}

/** Adds a glob that matches brackets literally: frameworks name files `[slug]`, and models pass such paths unescaped. */
export function literalToo(glob: string): readonly string[] {
  if (glob.startsWith('!') || glob.includes('\\') || !/\[.*\]|\{.*\}/u.test(glob)) return [glob]
  const literal = glob.replaceAll('[', '\\[').replaceAll(/\{([^{},]*)\}/gu, '\\{$1\\}')
  const isClosed = /^(?:[^[]|\[[!^]?[^[][^\][/]*\])*$/u.test(glob) && !/\{[^{},]*\}/u.test(glob)
  return isClosed ? [glob, literal] : [literal]
}

export class Omitted {
  readonly #paths = new Set<VirtualPath>()

  add(path: VirtualPath): void {
    if (this.#paths.size < mostKept) this.#paths.add(path)
  }

  /** A sentence for an answer without matches, with arguments that include the omitted places. */
  sentence({ hidden }: { readonly hidden: boolean }): string {
    if (this.#paths.size === 0) return ''
    const paths = [...this.#paths]
    const named = paths.slice(0, mostNamed).map((path) => showName(path))
    const more =
      paths.length > mostNamed ? ` and ${paths.length === mostKept ? 'many' : paths.length - mostNamed} more` : ''
    const isHidden = (path: VirtualPath): boolean => /\/\.[^/]*$/u.test(path)
    const ways = [
      ...(hidden && paths.some(isHidden) ? ['`hidden: true`'] : []),
      ...(hidden && paths.every(isHidden) && !paths.some((path) => path.endsWith('/.git')) ? [] : ['`ignored: true`']),
    ]
    return ` Left out: ${named.join(', ')}${more}; look there with ${ways.join(' and ')}.`
  }
}
