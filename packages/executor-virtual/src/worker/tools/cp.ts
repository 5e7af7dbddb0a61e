import { parseArguments } from '../guard/arguments.ts'
import { childOf } from '../../files/paths.ts'
import { type Invocation, Output, pathOf, type Tool } from './tool.ts'

export const cpOptions = { flags: 'rRnfap', long: ['recursive', 'archive'] }

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
  const made = new Set<string>()
  const output = new Output()
  const keeps = has('-a', '-p', '--archive')
  for (const source of sources) {
    const name = source.replace(/\/+$/, '').split('/').at(-1) ?? ''
    const path = pathOf(call, into ? `${target}/${name}` : target)
    const there = await fs.lstat(path).catch(() => undefined)
    if (there?.isSymbolicLink === true && !has('-n') && !(await fs.exists(path)))
      call.session.refuse('cp', `'${target}' is a link that leads nowhere`)
    if (has('-f') && there?.isFile === true && (there.mode & 0o200) === 0)
      call.session.refuse('cp -f', 'a file that cannot be written is not removed; use rm')
    if (has('-r', '-R', '-a', '--recursive', '--archive') && (await isInside(call, source, path)))
      call.session.refuse('cp', `'${source}' into itself`)
    if (made.has(path)) {
      output.fail(
        `cp: will not overwrite just-created '${into ? `${target.replace(/\/+$/, '')}/${name}` : target}' with '${source}'`,
      )
      continue
    }
    made.add(path)
    if (origCommand === undefined) throw new Error('just-bash has no cp')
    const recursive = has('-r', '-R', '-a', '--recursive', '--archive')
    const result = await origCommand([...(recursive ? ['-r'] : []), ...(has('-n') ? ['-n'] : []), '--', source, target])
    output.relay(result)
    output.exitCode = Math.max(output.exitCode, result.exitCode)
    if (keeps && result.exitCode === 0) await keepTimes(call, pathOf(call, source), path.replace(/(.)\/+$/, '$1'))
  }
  return output.result()
}

/** Gives copies the times and modes of what they were copied from; directories after what is in them. */
async function keepTimes(call: Invocation, from: string, to: string): Promise<void> {
  const { fs } = call.context
  const stat = await fs.lstat(from)
  if (stat.isSymbolicLink) return
  if (stat.isDirectory)
    for (const name of await fs.readdir(from)) await keepTimes(call, childOf(from, name), childOf(to, name))
  await fs.chmod(to, stat.mode & 0o777)
  // Its own object is not one that can be sent.
  const time = new Date(stat.mtime.getTime())
  await fs.utimes(to, time, time)
}

async function isInside(call: Invocation, source: string, path: string): Promise<boolean> {
  const { fs } = call.context
  const from = await fs.realpath(pathOf(call, source)).catch(() => undefined)
  if (from === undefined || !(await fs.stat(from)).isDirectory) return false
  const above = await fs.realpath(path.replace(/\/+$/, '').replace(/\/[^/]*$/, '') || '/').catch(() => undefined)
  return above !== undefined && `${above}/`.startsWith(`${from}/`)
}
