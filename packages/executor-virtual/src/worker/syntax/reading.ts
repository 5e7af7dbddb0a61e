import { decodeText, hasForeignBytes } from '@ws/shell-tools'
import { type CustomCommand, defineCommand, parse } from '#just-bash'

import type { Session } from '../session.ts'
import { groupOf, literal, type SimpleCommand, type Word, wordOf } from './nodes.ts'

// just-bash's `read` and `mapfile` take each byte for a character. They become groups that put their variables right.

const standIn = '__decode'
const withValue = { read: 'dNnptui', mapfile: 'dnOsuCc' } as const

interface Target {
  readonly names: readonly string[]
  readonly isArray: boolean
}

/** @returns false where it is not known into which variables the command reads */
export function decodeWhatIsRead(node: SimpleCommand): boolean {
  const command = literal(node.name) === 'read' ? 'read' : 'mapfile'
  // just-bash takes no letters together.
  if (command === 'mapfile')
    node.args = node.args.flatMap((word) => {
      const [, letters] = /^-([a-zA-Z]{2,})$/.exec(literal(word) ?? '') ?? []
      return letters === undefined ? [word] : [...letters].map((letter) => wordOf(`-${letter}`))
    })
  const target = targetOf(node.args, command)
  if (target === undefined) return false
  const { names, isArray } = target
  const values = names.map((name) => (isArray ? `"\${${name}[@]}"` : `${name} "$${name}"`))
  const counts = command === 'read' && node.args.some((word) => /^-[a-zA-Z]*[nN]/.test(literal(word) ?? ''))
  const decode = `${standIn} $? ${counts ? '-n ' : ''}${isArray ? `-a ${names[0]} ` : ''}${values.join(' ')}`
  groupOf(node, [], { ...node }, parse(decode).statements)
  return true
}

function targetOf(args: readonly Word[], command: keyof typeof withValue): Target | undefined {
  const words = [...args]
  let array: string | undefined
  for (let word = words[0]; word !== undefined; word = words[0]) {
    const option = literal(word)
    if (option === undefined && word.parts.length > 0 && word.parts[0]?.type !== 'Literal') return undefined
    if (option === undefined || !option.startsWith('-') || option === '-') break
    words.shift()
    if (option === '--') break
    const at = [...option].findIndex((letter) => letter === 'a' || withValue[command].includes(letter))
    if (at === -1) continue
    const glued = option.slice(at + 1)
    const value = glued === '' ? literalOrQuoted(words.shift()) : glued
    if (option[at] === 'a' && command === 'read') array = value ?? ''
  }
  const names = words.map(literal)
  if (command === 'mapfile') names.splice(1)
  else if (array !== undefined) names.splice(0, names.length, array)
  if (names.length === 0) names.push(command === 'read' ? 'REPLY' : 'MAPFILE')
  if (!names.every((name) => name !== undefined && /^[A-Za-z_]\w*$/.test(name))) return undefined
  return { names: names as string[], isArray: command === 'mapfile' || array !== undefined }
}

function literalOrQuoted(word: Word | undefined): string | undefined {
  return literal(word) ?? ''
}

export function decodeCommand(session: Session): CustomCommand {
  return defineCommand(
    standIn,
    async ([status = '0', ...given], { assignShellVariable }) => {
      const counts = given[0] === '-n'
      if (counts) given.shift()
      const assign = async (name: string, value: string, index?: number) => {
        if (!/[\x80-\xff]/.test(value) || /[^\0-\xff]/.test(value)) return
        const decoded = decodeText(Buffer.from(value, 'latin1'))
        // bash itself reads over the end of such a line.
        if (counts) session.refuse('read -n', 'of text that is not ASCII')
        if (hasForeignBytes(decoded)) session.refuse('read', 'the input is not UTF-8')
        await assignShellVariable?.(name, decoded, index === undefined ? undefined : String(index))
      }
      if (given[0] === '-a') {
        const [, name = '', ...values] = given
        for (const [index, value] of values.entries()) await assign(name, value, index)
      } else {
        for (let index = 0; index < given.length; index += 2) await assign(given[index] ?? '', given[index + 1] ?? '')
      }
      return { stdout: '', stderr: '', exitCode: Number(status) }
    },
    { trusted: false },
  )
}
