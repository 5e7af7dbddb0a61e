import { getCommandNames } from '#just-bash'

import { tools } from '../tools/index.ts'
import { literal, literalWord, type SimpleCommand, type Word } from '../state/nodes.ts'

// In just-bash, each command of a group reads the whole standard input. In bash, the commands share the input.
// This file marks such commands, and the guard refuses the second command that reads.

const marks = { group: '\u{f0003}', loop: '\u{f0004}', file: '\u{f0006}' } as const

export type Inheritance = keyof typeof marks

const commands = new Set([...getCommandNames(), ...Object.keys(tools), 'python', 'python3'])

interface Shape {
  readonly type?: unknown
  readonly commands?: readonly unknown[]
  readonly body?: unknown
  readonly redirections?: readonly {
    readonly operator?: string
    readonly fd?: number | null
    readonly target?: { readonly parts?: readonly { readonly type: string; readonly value?: string }[] }
  }[]
}

/** Marks commands that inherit the standard input of a group or loop. */
export function markInherited(node: unknown, inside: Inheritance = 'group'): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const one of node) markInherited(one, inside)
    return
  }
  const { type, commands: parts, body, ...rest } = node as Shape
  if (type === 'Pipeline' && parts !== undefined) {
    for (const [index, command] of parts.entries()) {
      const own = index > 0
      if (!own) markCommand(command, inside)
      markInherited(command, own ? 'group' : inside)
    }
    return
  }
  markInherited(Object.values(rest), inside)
  markInherited(body, type === 'While' || type === 'Until' ? 'loop' : inside)
}

function markCommand(node: unknown, inside: Inheritance): void {
  const { type, name, args, redirections = [] } = node as SimpleCommand & Shape
  if (type !== 'SimpleCommand') return
  const text = literal(name as Word | null)
  // With a file as input, `wc` sets the width of its columns by the size of the file.
  if (text === 'wc' && redirections.some(isFile)) args.unshift(literalWord(marks.file))
  const redirected = redirections.some(({ operator = '', fd }) => operator.startsWith('<') && (fd ?? 0) === 0)
  if (text !== undefined && commands.has(text) && !redirected) args.unshift(literalWord(marks[inside]))
}

function isFile({ operator, target }: NonNullable<Shape['redirections']>[number]): boolean {
  const [part] = target?.parts ?? []
  return operator === '<' && part?.type !== 'ProcessSubstitution' && part?.value?.startsWith('/dev/') !== true
}

export function takeMark(given: readonly string[]): { readonly words: string[]; readonly inherits?: Inheritance } {
  const [first, ...rest] = given
  if (first === marks.group) return { words: rest, inherits: 'group' }
  if (first === marks.loop) return { words: rest, inherits: 'loop' }
  if (first === marks.file) return { words: rest, inherits: 'file' }
  return { words: [...given] }
}

export function withoutMarks(text: string): string {
  return text.replace(/[\u{f0003}\u{f0004}\u{f0006}] ?/gu, '')
}
