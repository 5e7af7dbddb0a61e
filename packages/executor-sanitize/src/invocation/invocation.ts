import type { Word } from '@ws/command-parser'

import { quoteForShell } from '@ws/core/executor'
import { refuse } from '../refusal.ts'
import type { AnalysisContext, Outcome } from './analysis-context.ts'
import { checkPath, checkTree, mapPath, type Mode } from './path-words.ts'
import type { Known, Value } from './values.ts'

export interface Argument {
  readonly word: Word
  readonly value: Value
}

const hereWord: Word = { type: 'Word', text: '.', value: '.', pos: 0, end: 0 }
const noValue: Value = {
  text: undefined,
  host: false,
  tainted: false,
  glob: false,
  brace: false,
  splits: false,
  plain: true,
  fixed: true,
  joined: false,
  placed: false,
  pieces: [],
}

/** One call of a program: its arguments, and the facts learnt of them. */
export class Invocation {
  readonly name: string
  readonly args: readonly Argument[]
  readonly context: AnalysisContext
  /** Runs the analysis of a command that is an argument of this one. */
  readonly start: (args: readonly Argument[], context: AnalysisContext) => Outcome
  /** The same for a line that is one argument of this one. */
  readonly line: (argument: Argument) => Outcome
  hosts = false
  /** Texts hold paths of this machine; allowed only where they come out again. */
  tainted = false

  constructor(options: Pick<Invocation, 'name' | 'args' | 'context' | 'start' | 'line'>) {
    this.name = options.name
    this.args = options.args
    this.context = options.context
    this.start = options.start
    this.line = options.line
  }

  /** The same call of a program that was named by its path. */
  named(name: string): Invocation {
    return new Invocation({ ...this, name })
  }

  /** The same call without its first arguments, which have been judged. */
  from(index: number): Invocation {
    const rest = new Invocation({ ...this, args: this.args.slice(index) })
    rest.hosts = this.hosts
    rest.tainted = this.tainted
    return rest
  }

  /** The call as it was written. */
  get written(): string {
    return [this.name, ...this.args.map(({ word }) => word.text)].join(' ')
  }

  get trusted(): boolean {
    const { trust } = this.context.settings
    return trust === 'all' || trust.has(this.name)
  }

  path(argument: Argument, mode: Mode): void {
    if (mapPath({ ...argument, mode, context: this.context })) this.hosts = true
  }

  /** Uses a path that follows other text in its word: `--file=/x`, `if=/x`. */
  attached(argument: Argument, prefix: number, mode: Mode): void {
    const { word, value } = argument
    const { text } = value
    if (text === undefined)
      return refuse('unknown', word.text, 'write the option and its path as two words, or the path out')
    const rest = text.slice(prefix)
    if (!rest.startsWith('/')) {
      const inner = { ...value, text: rest, host: false, fixed: false }
      mapPath({ word, value: inner, mode, context: this.context })
      return
    }
    if (!value.fixed || value.tainted) return refuse('unknown', word.text, 'write the path out')
    const place = checkPath(rest, { word, value, mode, context: this.context })
    if (place.kind !== 'mount') return
    this.hosts = true
    const mapped = text.slice(0, prefix) + place.mount.host + text.slice(prefix + place.drop)
    this.context.edits.replace(word.pos, word.end, quoteForShell(mapped))
  }

  /** Text stays byte for byte. The shell turns an unquoted pattern into paths all the same. */
  text(argument: Argument, { tainted = false }: { readonly tainted?: boolean } = {}): void {
    const { word, value } = argument
    if (value.splits && /[\s*?[]/.test(value.text ?? '*')) refuse('unquoted', word.text)
    if (value.glob && value.text === undefined) refuse('unknown', word.text)
    if (value.glob && !value.brace && value.text !== undefined) {
      const absolute = value.text.startsWith('/')
      if (absolute || /(?:^|\/)(?:\.\.(?:\/|$)|\.\.?[*?[@+!])/.test(value.text)) {
        // A pattern that finds nothing stays as it is: outside of the workspace it is left to that.
        this.path(argument, 'look')
        if (absolute) this.tainted = true
      }
    }
    if (!value.tainted) return
    if (!tainted || value.joined) refuse('shown', word.text)
    this.tainted = true
  }

  /** A text that becomes the value of a variable, which must hold no path of this machine. */
  kept(argument: Argument): void {
    const { word, value } = argument
    if (value.tainted || (value.glob && value.text?.startsWith('/') === true)) refuse('held', word.text)
    if (value.glob) this.path(argument, 'read')
    else this.text(argument)
  }

  /** An argument that is added when the command runs. */
  placeholder({ text, host }: Known): Argument {
    return {
      word: {
        ...hereWord,
        text: this.written,
      },
      value: { ...noValue, text, host: host && text !== undefined, tainted: host, fixed: false, placed: true },
    }
  }

  /** For programs that go through directories. */
  tree(argument: Argument, options: { readonly climbing?: boolean; readonly links?: boolean } = {}): void {
    checkTree({ ...argument, mode: 'read', context: this.context }, options)
  }

  /** The same for the directory that it runs in. */
  treeHere(options: { readonly climbing?: boolean; readonly links?: boolean } = {}): void {
    const value = { ...noValue, text: '.' }
    checkTree({ word: hereWord, value, mode: 'read', context: this.context }, options)
  }

  refuse(kind: Parameters<typeof refuse>[0], argument?: Argument): never {
    return refuse(kind, argument?.word.text ?? this.name)
  }

  done(more: Partial<Outcome> = {}): Outcome {
    return { prints: this.tainted, hosts: this.hosts, ...more }
  }
}

/** Characters of a script of awk or sed at most: it is looked over by expressions that go back. */
export const longestScript = 8_192

/** The text of an argument that is known to be it; `undefined` elsewhere. */
export function textOf({ value }: Argument): string | undefined {
  return value.fixed ? value.text : undefined
}
