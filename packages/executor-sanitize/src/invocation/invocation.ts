import type { Word } from '@ws/command-parser'

import { quoteForShell } from '@ws/core/executor'
import { refuse } from '../refusal.ts'
import type { AnalysisContext, Outcome } from './analysis-context.ts'
import { checkPath, checkTree, mapPath, type Mode } from './path-words.ts'
import { isTainted, type State, type Variable } from './state.ts'
import type { Value } from './values.ts'

export interface Argument {
  readonly word: Word
  readonly value: Value
}

const hereWord: Word = { type: 'Word', text: '.', value: '.', pos: 0, end: 0 }
const noValue: Value = {
  texts: [],
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
  readonly state: State
  readonly context: AnalysisContext
  /** Runs the analysis of a command that is an argument of this one. */
  readonly start: (args: readonly Argument[], context: AnalysisContext) => Outcome
  /** The same for a line that is one argument of this one. */
  readonly line: (argument: Argument, state: State, context: AnalysisContext) => Outcome
  hosts = false
  /** Texts hold paths of this machine; allowed only where they come out again. */
  tainted = false

  constructor(options: Pick<Invocation, 'name' | 'args' | 'state' | 'context' | 'start' | 'line'>) {
    this.name = options.name
    this.args = options.args
    this.state = options.state
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

  get trusted(): boolean {
    const { trust } = this.context.settings
    return trust === 'all' || trust.has(this.name)
  }

  path(argument: Argument, mode: Mode): void {
    if (mapPath({ ...argument, mode, state: this.state, context: this.context })) this.hosts = true
  }

  /** A path that stands behind something else in its word: `--file=/x`, `if=/x`. */
  attached(argument: Argument, prefix: number, mode: Mode): void {
    const { word, value } = argument
    if (value.texts === undefined)
      return refuse('unknown', word.text, 'write the option and its path as two words, or the path out')
    const rests = value.texts.map((text) => text.slice(prefix))
    if (rests.every((text) => !text.startsWith('/'))) {
      const inner = { ...value, texts: rests, host: false, fixed: false }
      mapPath({ word, value: inner, mode, state: this.state, context: this.context })
      return
    }
    const [text] = value.texts
    if (!value.fixed || text === undefined || value.tainted) return refuse('unknown', word.text, 'write the path out')
    const place = checkPath(text.slice(prefix), { word, value, mode, state: this.state, context: this.context })
    if (place.kind !== 'mount') return
    this.hosts = true
    const mapped = text.slice(0, prefix) + place.mount.host + text.slice(prefix + place.drop)
    this.context.edits.replace(word.pos, word.end, quoteForShell(mapped))
  }

  /** Text stays byte for byte. The shell turns an unquoted pattern into paths all the same. */
  text(argument: Argument, { tainted = false }: { readonly tainted?: boolean } = {}): void {
    const { word, value } = argument
    if (value.glob && !value.brace && value.texts !== undefined) {
      const absolute = value.texts.some((text) => text.startsWith('/'))
      if (absolute || value.texts.some((text) => /(?:^|\/)(?:\.\.(?:\/|$)|\.\.?[*?[@+!])/.test(text))) {
        // A pattern that finds nothing stays as it is: outside of the workspace it is left to that.
        this.path(argument, 'look')
        if (absolute) this.tainted = true
      }
    }
    if (!value.tainted) return
    if (!tainted || value.joined) refuse('shown', word.text)
    this.tainted = true
  }

  /** An argument that is added when the command runs. */
  placeholder(variable: Variable): Argument {
    const texts = variable.kind === 'texts' ? variable.texts : undefined
    const tainted = isTainted(variable)
    return {
      word: { ...hereWord, text: '(names)' },
      value: { ...noValue, texts, host: tainted && texts !== undefined, tainted, fixed: false, placed: true },
    }
  }

  /** For programs that go through directories. */
  tree(argument: Argument, options: { readonly climbing?: boolean; readonly links?: boolean } = {}): void {
    checkTree({ ...argument, mode: 'read', state: this.state, context: this.context }, options)
  }

  /** The same for the directory that it runs in. */
  treeHere(options: { readonly climbing?: boolean; readonly links?: boolean } = {}): void {
    const value = { ...noValue, texts: ['.'] }
    checkTree({ word: hereWord, value, mode: 'read', state: this.state, context: this.context }, options)
  }

  refuse(kind: Parameters<typeof refuse>[0], argument?: Argument): never {
    return refuse(kind, argument?.word.text ?? this.name)
  }

  done(more: Partial<Outcome> = {}): Outcome {
    return { success: this.state, failure: this.state, prints: this.tainted, hosts: this.hosts, ...more }
  }
}

/** The text of an argument that has exactly one; `undefined` elsewhere. */
export function textOf({ value }: Argument): string | undefined {
  return value.fixed ? value.texts?.[0] : undefined
}
