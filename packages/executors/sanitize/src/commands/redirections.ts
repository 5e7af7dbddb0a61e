import { type Redirection, staticText, type WordPart } from '@ws/command-parser'

import type { AnalysisContext, Outcome } from '../invocation/analysis-context.ts'
import { mapPath } from '../invocation/path-words.ts'
import { evaluate } from '../invocation/values.ts'
import { refuse } from '../refusal.ts'

type Target = 'output' | 'messages' | 'file' | 'nowhere'

interface JudgedRedirections {
  /** Paths of this machine may be in the command's standard input. */
  readonly tainted: boolean
  /**
   * Gives the outcome with the part of its output that goes on. @throws Refusal for paths of this machine that would be
   * stored in a file
   */
  apply(outcome: Outcome): Outcome
}

/** Judges where a command reads and writes; targets are paths, bodies of here-documents are text. */
export function judgeRedirections(redirections: readonly Redirection[], context: AnalysisContext): JudgedRedirections {
  // Descriptors can be copied: once paths of this machine can be read, they can be until the end.
  let { tainted } = context
  let failing: Outcome = { prints: false, hosts: false }
  let output: Target = 'output'
  let messages: Target = 'messages'
  const written = (from: { readonly pos: number; readonly end: number }) => context.source.slice(from.pos, from.end)
  for (const redirection of redirections) {
    if (redirection.type === 'HereDoc') {
      tainted = holdsHosts(redirection.body.parts, context) || tainted
      continue
    }
    const { target, operator, descriptor } = redirection
    if (target === undefined) return refuse('syntax', operator)
    const value = evaluate(target, context)
    if (redirection.type === 'HereString') {
      tainted ||= value.tainted
      continue
    }
    const text = staticText(target)
    // `{name}>` sets a variable.
    if ((operator === '<&' && text !== '-') || descriptor?.type === 'FileDescriptorVariable')
      return refuse('construct', written(redirection))
    const number = descriptor?.value
    const device = !/^>[>|]?$/.test(operator)
      ? undefined
      : text === '/dev/stdout'
        ? '1'
        : text === '/dev/stderr'
          ? '2'
          : undefined
    // They lead to sockets here, which cannot be opened by name.
    if (device !== undefined) context.edits.replace(redirection.pos, redirection.end, `${number ?? ''}>&${device}`)
    const copied = device !== undefined || ((operator === '>&' || operator === '<&') && /^\d*-?$/.test(text ?? '/'))
    let to: Target
    if (copied) {
      const from = device ?? text
      to = from === '1' ? output : from === '2' ? messages : 'file'
      // A descriptor of its own can lead anywhere; where it was made, its file was judged.
    } else {
      if (value.glob) return refuse('unknown', target.text)
      const host = mapPath({ word: target, value, mode: operator === '<' ? 'read' : 'write', context })
      // The shell's own message, when it cannot open the file, names it.
      if (host) {
        if (messages === 'file') refuse('stored', target.text)
        failing = { prints: failing.prints || messages === 'output', hosts: failing.hosts || messages === 'messages' }
      }
      to = text === '/dev/null' ? 'nowhere' : 'file'
    }
    const both = operator.startsWith('&') || (operator === '>&' && !copied)
    const changed = number ?? (operator.startsWith('<') ? 0 : 1)
    if (both || changed === 1) output = to
    if (both || changed === 2) messages = to
  }
  return {
    tainted,
    apply({ prints, hosts }) {
      const [first] = redirections
      if (first !== undefined && ((output === 'file' && prints) || (messages === 'file' && hosts)))
        return refuse('stored', written(first))
      const shows = (output === 'output' && prints) || (messages === 'output' && hosts)
      return { prints: shows || failing.prints, hosts: hosts || failing.hosts }
    },
  }
}

/** Judges all expansions of a here-document. True when one may put a path of this machine into it. */
function holdsHosts(parts: readonly WordPart[] | undefined, context: AnalysisContext): boolean {
  const values = (parts ?? [])
    .filter(({ type }) => type !== 'Literal')
    .map((part) =>
      evaluate({ type: 'Word', text: part.text, value: part.text, pos: part.pos ?? 0, end: 0, parts: [part] }, context),
    )
  return values.some(({ tainted }) => tainted)
}
