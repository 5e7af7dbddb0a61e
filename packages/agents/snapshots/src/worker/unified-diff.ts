import { showName } from '@ws/core/executor'
import { createTwoFilesPatch } from 'diff'

import type { DiffSide } from './protocol.ts'

const mostBytes = 1024 * 1024
const timeout = 2_000
const looked = 8_192

/** A unified diff of two states, or one line of types and sizes where the states are not comparable text. */
export function unifiedDiff(before: DiffSide, after: DiffSide): string {
  const header = [modeLine(before, after)].filter((line) => line !== '').join('')
  const [old, now] = [diffText(before), diffText(after)]
  if (isDirectory(before) && isDirectory(after)) return header
  if (old === undefined || now === undefined) return `${header}${sizesLine(before, after)}`
  if (old === now && before.facts !== undefined && after.facts !== undefined) return header
  const names = [
    before.facts === undefined ? '/dev/null' : `a${before.name}`,
    after.facts === undefined ? '/dev/null' : `b${after.name}`,
  ]
  const [from = '', to = ''] = names
  const patch = createTwoFilesPatch(from, to, old, now, undefined, undefined, { timeout, context: 3 }) as
    | string
    | undefined
  if (patch === undefined) return `${header}${sizesLine(before, after)}`
  return header + patch.replace(/^=+\n/u, '')
}

function modeLine({ facts: old, name }: DiffSide, { facts: now, name: nowName }: DiffSide): string {
  let line =
    old !== undefined && now !== undefined && name !== nowName
      ? `rename from ${showName(name)}\nrename to ${showName(nowName)}\n`
      : ''
  if (old?.mode !== undefined && now?.mode !== undefined && old.mode !== now.mode && old.type === now.type)
    line += `mode of ${showName(nowName)}: ${octal(old.mode)} -> ${octal(now.mode)}\n`
  return line
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

function isDirectory({ facts }: DiffSide): boolean {
  return facts === undefined || facts.type === 'directory'
}

function diffText({ facts, bytes }: DiffSide): string | undefined {
  if (facts === undefined) return ''
  if (facts.type === 'symlink') return `${facts.target ?? ''}\n`
  if (facts.type === 'directory') return ''
  if (bytes === undefined || bytes.length > mostBytes || bytes.subarray(0, looked).includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined // not a text
  }
}

function sizesLine(before: DiffSide, after: DiffSide): string {
  const side = ({ facts }: DiffSide): string =>
    facts === undefined ? 'nothing' : facts.type === 'file' ? `${facts.size} bytes` : facts.type
  return `Not compared as text: ${showName(after.name)}: ${side(before)} -> ${side(after)}\n`
}
