import type { ExecResult } from 'just-bash'

import { parseArguments } from '../guard/arguments.ts'
import { type Invocation, pathOf, type Tool } from './tool.ts'

export const cpOptions = { flags: 'rRnf', long: ['recursive'] }

/** just-bash's `cp`, but for places where it writes what the real one does not. */
export const cp: Tool = async (call) => {
  const { fs, origCommand } = call.context
  const { options, operands } = parseArguments(cpOptions, call.given)
  const has = (...names: string[]) => options.some(({ name }) => names.includes(name))
  const sources = operands.slice(0, -1)
  const target = operands.at(-1) ?? ''
  const device = sources.find((source) => /^\/(?:dev|proc)\/(?!null$)/.test(source))
  if (device !== undefined) call.session.refuse(`cp ${device}`, 'use cat')
  const into = await fs.stat(pathOf(call, target)).then(
    ({ isDirectory }) => isDirectory,
    () => false,
  )
  for (const source of sources) {
    const name = source.replace(/\/+$/, '').split('/').at(-1) ?? ''
    const path = pathOf(call, into ? `${target}/${name}` : target)
    const there = await fs.lstat(path).catch(() => undefined)
    if (there?.isSymbolicLink === true && !has('-n') && !(await fs.exists(path)))
      call.session.refuse('cp', `'${target}' is a link that leads nowhere`)
    if (has('-f') && there?.isFile === true && (there.mode & 0o200) === 0)
      call.session.refuse('cp -f', 'a file that cannot be written is not removed; use rm')
    if (has('-r', '-R', '--recursive') && (await isInside(call, source, path)))
      call.session.refuse('cp', `'${source}' into itself`)
  }
  if (origCommand === undefined) throw new Error('just-bash has no cp')
  const words = call.given.map((word) => (/^-[rRnf]+$/.test(word) ? word.replaceAll('f', '') : word))
  const end = call.given.indexOf('--')
  const kept = words.map((word, index) => (end !== -1 && index > end ? (call.given[index] ?? '') : word))
  return (await origCommand(kept.filter((word, index) => word !== '-' || call.given[index] === '-'))) as ExecResult
}

async function isInside(call: Invocation, source: string, path: string): Promise<boolean> {
  const { fs } = call.context
  const from = await fs.realpath(pathOf(call, source)).catch(() => undefined)
  if (from === undefined || !(await fs.stat(from)).isDirectory) return false
  const above = await fs.realpath(path.replace(/\/+$/, '').replace(/\/[^/]*$/, '') || '/').catch(() => undefined)
  return above !== undefined && `${above}/`.startsWith(`${from}/`)
}
