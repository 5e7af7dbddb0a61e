import { type Redirection, staticText } from '@ws/command-parser'

import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { mapPath } from '../invocation/path-words.ts'
import { holdsHosts } from './words.ts'

type Target = 'output' | 'messages' | 'file' | 'nowhere'

export interface JudgedRedirections {
  /** Paths of this machine may be in the command's standard input. */
  readonly tainted: boolean
  /**
   * Gives the outcome with the part of its output that goes on. @throws Refusal for paths of this machine that would be
   * stored in a file
   */
  apply(outcome: Outcome): Outcome
}

/** Judges where a command reads and writes; targets are paths, bodies of here-documents are text. */
export function judgeRedirections(analyst: Analyst, redirections: readonly Redirection[]): JudgedRedirections {
  const { context } = analyst
  // Descriptors can be copied: once paths of this machine can be read, they can be until the end.
  let { tainted } = context
  let failing: Pick<Outcome, 'prints' | 'hosts'> = { prints: false, hosts: false }
  let first: Redirection | undefined
  let output: Target = 'output'
  let messages: Target = 'messages'
  for (const redirection of redirections) {
    if (redirection.type === 'HereDoc') {
      tainted = holdsHosts(analyst, redirection.body.parts) || tainted
      continue
    }
    const { target, operator, descriptor } = redirection
    if (target === undefined) return refuse('syntax', operator)
    const value = analyst.value(target)
    if (redirection.type === 'HereString') {
      tainted ||= value.tainted
      continue
    }
    const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : descriptor === undefined ? undefined : -1
    const text = staticText(target)
    if (operator === '<&' && text !== '-') return refuse('construct', analyst.text(redirection))
    const simple = number !== -1 && /^>[>|]?$/.test(operator)
    const device = !simple ? undefined : text === '/dev/stdout' ? '1' : text === '/dev/stderr' ? '2' : undefined
    // They lead to sockets here, which cannot be opened by name.
    if (device !== undefined) context.edits.replace(redirection.pos, redirection.end, `${number ?? ''}>&${device}`)
    const copied = device !== undefined || ((operator === '>&' || operator === '<&') && /^\d*-?$/.test(text ?? '/'))
    let to: Target
    if (copied) {
      const from = device ?? text
      to = from === '1' ? output : from === '2' ? messages : 'file'
      // A descriptor of its own can lead anywhere; where it was made, its file was judged.
    } else {
      if (value.glob || value.brace) return refuse('unknown', target.text)
      const mode = operator === '<' ? 'read' : 'write'
      const host = mapPath({ word: target, value, mode, context })
      // The shell's own message, when it cannot open the file, names it.
      if (host) {
        if (messages === 'file') refuse('stored', target.text)
        failing = { prints: failing.prints || messages === 'output', hosts: failing.hosts || messages === 'messages' }
      }
      to = text === '/dev/null' ? 'nowhere' : 'file'
    }
    if (operator === '<' || operator === '<&' || operator === '<>') continue
    first ??= redirection
    if (operator === '&>' || operator === '&>>' || (operator === '>&' && !copied)) {
      output = to
      messages = to
    } else if (number === undefined || number === 1) output = to
    else if (number === 2) messages = to
  }
  return {
    tainted,
    apply(outcome) {
      const { prints, hosts, ...rest } = apply(analyst, outcome, { output, messages, first })
      return { ...rest, prints: prints || failing.prints, hosts: hosts || failing.hosts }
    },
  }
}

interface Targets {
  readonly output: Target
  readonly messages: Target
  readonly first: Redirection | undefined
}

function apply(analyst: Analyst, outcome: Outcome, { output, messages, first }: Targets): Outcome {
  if (first === undefined) return outcome
  const stored = (output === 'file' && outcome.prints) || (messages === 'file' && outcome.hosts)
  if (stored) return refuse('stored', analyst.text(first))
  const shows = (output === 'output' && outcome.prints) || (messages === 'output' && outcome.hosts)
  return { ...outcome, prints: shows }
}
