import { type Redirection, staticText, type WordPart } from '@ws/command-parser'

import type { AnalysisContext, Outcome } from '../invocation/analysis-context.ts'
import { mapPath } from '../invocation/path-words.ts'
import { evaluate } from '../invocation/values.ts'
import { refuse } from '../refusal.ts'

type Target = 'output' | 'messages' | 'file' | 'nowhere'

interface JudgedRedirections {
  /** True if the command's standard input may contain host paths. */
  readonly tainted: boolean
  /** Returns the outcome for output that goes to the caller. @throws Refusal if redirected output could store host paths in a file */
  apply(outcome: Outcome): Outcome
}

export function judgeRedirections(redirections: readonly Redirection[], context: AnalysisContext): JudgedRedirections {
  // Never reset: a copied descriptor remains readable after a further redirection.
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
    // `{name}>` is refused because it sets a variable.
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
    // Standard streams are sockets here, which cannot be opened by name, so the redirection copies a descriptor instead.
    if (device !== undefined) context.edits.replace(redirection.pos, redirection.end, `${number ?? ''}>&${device}`)
    const copied = device !== undefined || ((operator === '>&' || operator === '<&') && /^\d*-?$/.test(text ?? '/'))
    let to: Target
    if (copied) {
      const from = device ?? text
      to = from === '1' ? output : from === '2' ? messages : 'file'
      // The redirection that opened the descriptor's file was already checked.
    } else {
      if (value.glob) return refuse('unknown', target.text)
      const host = mapPath({ word: target, value, mode: operator === '<' ? 'read' : 'write', context })
      // If the shell cannot open the file, its error message contains the path.
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

/** Checks the expansions of a here-document. Returns true if one may insert a host path. */
function holdsHosts(parts: readonly WordPart[] | undefined, context: AnalysisContext): boolean {
  const values = (parts ?? [])
    .filter(({ type }) => type !== 'Literal')
    .map((part) =>
      evaluate({ type: 'Word', text: part.text, value: part.text, pos: part.pos ?? 0, end: 0, parts: [part] }, context),
    )
  return values.some(({ tainted }) => tainted)
}
