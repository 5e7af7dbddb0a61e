import type { Word } from '@ws/command-parser'
import { quoteForShell } from '@ws/core/executor'

import { refuse } from '../refusal.ts'
import type { AnalysisContext, Outcome } from './analysis-context.ts'
import { checkPath, checkText, checkTree, mapPath, type Mode, type TreeOptions } from './path-words.ts'
import type { Value } from './values.ts'

export interface Argument {
  readonly word: Word
  readonly value: Value
}

/** The argument `.`, for a program that walks its working directory. */
export const here: Argument = {
  word: { type: 'Word', text: '.', value: '.', pos: 0, end: 0 },
  value: { text: '.', host: false, tainted: false, glob: false, splits: false, fixed: true, joined: false, pieces: [] },
}

export class Invocation {
  name: string
  readonly args: readonly Argument[]
  readonly context: AnalysisContext
  hosts = false
  /** True if printed arguments contain host paths. Allowed only if the program prints these arguments unchanged. */
  tainted = false

  constructor(name: string, args: readonly Argument[], context: AnalysisContext) {
    this.name = name
    this.args = args
    this.context = context
  }

  get written(): string {
    return [this.name, ...this.args.map(({ word }) => word.text)].join(' ')
  }

  path(argument: Argument, mode: Mode): void {
    if (mapPath({ ...argument, mode, context: this.context })) this.hosts = true
  }

  /** Checks a path that follows other text in its word: `--file=/x`. */
  attached(argument: Argument, prefix: number, mode: Mode): void {
    const { word, value } = argument
    const { text } = value
    if (text === undefined)
      return refuse('unknown', word.text, 'write the option and its path as two words, or the path out')
    const rest = text.slice(prefix)
    const request = { word, value: { ...value, text: rest, host: false, fixed: false }, mode, context: this.context }
    if (!rest.startsWith('/')) return void mapPath(request)
    if (!value.fixed || value.tainted) return refuse('unknown', word.text, 'write the path out')
    const place = checkPath(rest, request)
    if (place.kind !== 'mount') return
    this.hosts = true
    const mapped = text.slice(0, prefix) + place.mount.host + text.slice(prefix + place.drop)
    this.context.edits.replace(word.pos, word.end, quoteForShell(mapped))
  }

  /** Checks a path that the program builds. The path and everything below it must be inside the workspace. */
  check(text: string, { word, value }: Argument, mode: Mode, options?: TreeOptions): void {
    const request = { word, value: { ...value, text, glob: false }, mode, context: this.context }
    checkText(text, request)
    checkTree(request, options)
  }

  /** Checks the argument of a program that walks directories. */
  tree(argument: Argument, options?: TreeOptions): void {
    checkTree({ ...argument, mode: 'read', context: this.context }, options)
  }

  text(argument: Argument): void {
    if (argument.value.glob) refuse('unknown', argument.word.text, 'put the text between quotes')
    if (argument.value.tainted) refuse('shown', argument.word.text)
    this.shown(argument)
  }

  /** Checks an argument that appears in the output. A pattern becomes names there, and a host path becomes a workspace path. */
  shown(argument: Argument): void {
    const { word, value } = argument
    if (value.splits && /[\s*?[]|^$/.test(value.text ?? '*')) refuse('unquoted', word.text)
    if (value.glob && value.text === undefined) refuse('unknown', word.text)
    const absolute = value.glob && value.text?.startsWith('/') === true
    // A pattern without a match remains as text. As a path, this text must not lead outside.
    if (absolute || (value.glob && /(?:^|\/)(?:\.\.(?:\/|$)|\.\.?[*?[@+!])/.test(value.text ?? '')))
      this.path(argument, 'look')
    if (value.joined) refuse('shown', word.text)
    this.tainted ||= absolute || value.tainted
  }

  refuse(kind: Parameters<typeof refuse>[0], argument?: Argument, hint?: string): never {
    return refuse(kind, argument?.word.text ?? this.written, hint)
  }

  done(more: Partial<Outcome> = {}): Outcome {
    return { prints: this.tainted, hosts: this.hosts, ...more }
  }
}

/** Returns the text of an argument, if it is certain. */
export function knownText(argument: Argument | undefined): string | undefined {
  return argument?.value.fixed ? argument.value.text : undefined
}
