import { type Redirection, staticText, type Word, type WordPart } from '@ws/command-parser'

import { refuse } from '../refusal.ts'
import type { Context, Input, Outcome } from './context.ts'
import { mapPath } from './path-words.ts'
import type { State } from './state.ts'
import type { Value } from './values.ts'

export interface RedirectionOptions {
  evaluate(word: Word): Value
  /** True when one of the expansions holds a path of this machine. */
  expansions(parts: readonly WordPart[] | undefined): boolean
  readonly state: State
  readonly context: Context
}

type Target = 'output' | 'messages' | 'file' | 'nowhere'

export interface JudgedRedirections {
  /** What the command reads now; `undefined`: what it read before. */
  readonly input: Input | undefined
  /** What of the command's output goes on. @throws Refusal for paths of this machine that would be stored in a file */
  apply(outcome: Outcome): Outcome
}

/** Judges where a command reads and writes; targets are paths, bodies of here-documents are text. */
export function judgeRedirections(
  redirections: readonly Redirection[],
  options: RedirectionOptions,
): JudgedRedirections {
  let input: Input | undefined
  let first: Redirection | undefined
  let output: Target = 'output'
  let messages: Target = 'messages'
  for (const redirection of redirections) {
    if (redirection.type === 'HereDoc') {
      input = { tainted: options.expansions(redirection.body.parts) }
      continue
    }
    const { target, operator, descriptor } = redirection
    if (target === undefined) return refuse('syntax', operator)
    const value = options.evaluate(target)
    if (redirection.type === 'HereString') {
      input = { tainted: value.tainted }
      continue
    }
    const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : descriptor === undefined ? undefined : -1
    const text = staticText(target)
    const copied = (operator === '>&' || operator === '<&') && text !== undefined && /^\d*-?$/.test(text)
    let to: Target
    if (copied) {
      to = text === '1' ? output : text === '2' ? messages : 'file'
      // A descriptor of its own can lead anywhere; where it was made, its file was judged.
    } else {
      if (value.glob || value.brace) return refuse('unknown', target.text)
      const mode = operator === '<' ? 'read' : 'write'
      mapPath({ word: target, value, mode, state: options.state, context: options.context })
      to =
        text === '/dev/null' ? 'nowhere' : text === '/dev/stderr' ? messages : text === '/dev/stdout' ? output : 'file'
    }
    if (operator === '<' || operator === '<&' || operator === '<>') {
      if (number === undefined || number === 0) input = { tainted: false }
      continue
    }
    first ??= redirection
    if (operator === '&>' || operator === '&>>' || (operator === '>&' && !copied)) {
      output = to
      messages = to
    } else if (number === undefined || number === 1) output = to
    else if (number === 2) messages = to
  }
  return { input, apply: (outcome) => apply(outcome, { output, messages, first }, options.context) }
}

function apply(
  outcome: Outcome,
  {
    output,
    messages,
    first,
  }: { readonly output: Target; readonly messages: Target; readonly first: Redirection | undefined },
  context: Context,
): Outcome {
  if (first === undefined) return outcome
  const stored = (output === 'file' && outcome.prints) || (messages === 'file' && outcome.hosts)
  if (stored) return refuse('stored', context.source.slice(first.pos, first.end))
  const shows = (output === 'output' && outcome.prints) || (messages === 'output' && outcome.hosts)
  const { names, ...rest } = outcome
  return {
    ...rest,
    prints: shows,
    ...(output === 'output' && names !== undefined ? { names } : {}),
    number: output === 'output' && outcome.number,
  }
}
