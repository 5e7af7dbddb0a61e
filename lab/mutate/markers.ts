import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { capture, repositoryRoot } from '../../scripts/lib/run.ts'
import type { Mutation, Mutations } from './types.ts'

const form =
  /^(?<file>[^:]+):(?<number>\d+):(?<code>.*)(?:\/\/|#) @defence (?:`(?<part>[^`]+)` )?(?<name>.+?)(?:: (?<title>.+))?$/u

/** The mutations that `@defence` comments ask for, as docs/threat-model.md describes them. */
export function readMarkers(vectors: readonly string[]): Mutations[] {
  const lines = capture('git', ['grep', '-n', '--untracked', ' @defence ', '--', '*.ts', '*.pl', ':!lab/mutate'])
  return lines.split('\n').flatMap((line) => {
    const { file, number, code = '', part, name = '', title } = form.exec(line)?.groups ?? {}
    if (file === undefined) return line === '' ? [] : [{ [line]: [] }]
    const rows = vectors.filter((vector) => vector.includes(name))
    const removal = removalAt(file, Number(number) - 1, code, part)
    return [{ [rows.length === 1 ? rows.join('') : name]: [{ ...removal, file, title }] }]
  })
}

function removalAt(file: string, at: number, code: string, part: string | undefined): Mutation {
  const lines = readFileSync(join(repositoryRoot, file), 'utf8').split('\n')
  if (part === undefined) {
    const first = code.trim() === '' ? at + 1 : at
    const removes = (first === at ? code : (lines[first] ?? '')).trim()
    return { removes, text: `${lines.slice(at, endOf(lines, first)).join('\n')}\n` }
  }
  const pattern = part.replaceAll(/[$()*+.?[\\\]^{|}]/gu, '\\$&').replaceAll('…', '.*?')
  const [found, ...more] = code.match(new RegExp(pattern, 'gu')) ?? []
  if (found === undefined || more.length > 0) return { removes: part, text: `${part} once in ${code}` }
  return { removes: found, text: lines[at] ?? '', by: code.replace(found, '') }
}

/** The index after a statement, in formatted code: the next line that is not indented more and closes nothing. */
function endOf(lines: readonly string[], first: number): number {
  const indent = /^ */u.exec(lines[first] ?? '')?.[0] ?? ''
  const inside = new RegExp(`^(?:$|${indent}(?: |[)\\]}]|els))`, 'u')
  const next = [...lines, '.'].findIndex((line, index) => index > first && !inside.test(line))
  return lines.slice(0, next).findLastIndex((line) => line !== '') + 1
}
