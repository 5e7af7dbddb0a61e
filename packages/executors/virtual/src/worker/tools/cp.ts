import { Output, parseArguments, pathOf, type ToolResult } from '@ws/shell-tools'
import { childOf, isFileError } from '@ws/shell-tools/files'

import type { Call, ScriptTool } from '../call.ts'

export const cpOptions = { flags: 'rRnfap', long: ['recursive', 'archive'] }

export const cp: ScriptTool = async (call) => {
  const { fs, origCommand } = call.context
  const { options, operands } = parseArguments(cpOptions, call.given)
  const has = (...names: string[]) => options.some(({ name }) => names.includes(name))
  const sources = operands.slice(0, -1)
  const target = operands.at(-1) ?? ''
  const device = sources.find((source) => /^\/(?:dev|proc)\/(?!null$)/.test(source))
  if (device !== undefined) call.host.refuse(`cp ${device}`, 'use cat')
  const found = await call.listing.look(pathOf(call, target), { follow: true }).catch(() => undefined) // the copy itself reports the error
  const into = found?.isDirectory === true
  const made = new Set<string>()
  const output = new Output()
  if (sources.length > 1 && !into) {
    const words = found === undefined ? 'No such file or directory' : 'Not a directory'
    output.fail(`cp: target '${target}': ${words}`)
    return output.result()
  }
  const keeps = has('-a', '-p', '--archive')
  for (const source of sources) {
    const name = source.replace(/\/+$/, '').split('/').at(-1) ?? ''
    const path = pathOf(call, into ? `${target}/${name}` : target)
    const there = await call.listing.look(path).catch(() => undefined) // the copy itself reports the error
    if (there?.isSymbolicLink === true && !has('-n') && !(await fs.exists(path)))
      call.host.refuse('cp', `'${target}' is a link that leads nowhere`)
    if (has('-f') && there?.isFile === true && (there.mode & 0o200) === 0)
      call.host.refuse('cp -f', 'a file that cannot be written is not removed; use rm')
    if (has('-r', '-R', '-a', '--recursive', '--archive') && (await isInside(call, source, path)))
      call.host.refuse('cp', `'${source}' into itself`)
    if (made.has(path)) {
      output.fail(
        `cp: will not overwrite just-created '${into ? `${target.replace(/\/+$/, '')}/${name}` : target}' with '${source}'`,
      )
      continue
    }
    made.add(path)
    if (origCommand === undefined) throw new Error('just-bash has no cp')
    const recursive = has('-r', '-R', '-a', '--recursive', '--archive')
    const result =
      (there === undefined ? await copyNew(call, { source, path, recursive }) : undefined) ??
      (await origCommand([...(recursive ? ['-r'] : []), ...(has('-n') ? ['-n'] : []), '--', source, target]))
    output.relay(result)
    output.exitCode = Math.max(output.exitCode, result.exitCode)
    if (keeps && result.exitCode === 0) await keepTimes(call, pathOf(call, source), path.replace(/(.)\/+$/, '$1'))
  }
  return output.result()
}

/** Copies to new paths, with fewer requests than just-bash's `cp`. If it returns `undefined`, just-bash's `cp` must copy or fail. */
async function copyNew(
  call: Call,
  { source, path, recursive }: { readonly source: string; readonly path: string; readonly recursive: boolean },
): Promise<ToolResult | undefined> {
  const from = pathOf(call, source)
  const stat = await call.listing.look(from, { follow: true }).catch(() => undefined) // the copy itself reports the error
  if (stat === undefined || (stat.isDirectory && !recursive)) return undefined
  try {
    await call.context.fs.cp(from, path, { recursive })
  } catch (error) {
    if (!isFileError(error)) throw error
    if (!stat.isDirectory) return undefined
    // a part of the copy may exist, and a retry would copy the tree into that part
    const output = new Output()
    output.fail(`cp: cannot copy '${source}': ${error.message}`)
    return output.result()
  }
  return new Output().result()
}

/** Keeps the times and modes of copies. A directory gets its time after its contents. */
async function keepTimes(call: Call, from: string, to: string): Promise<void> {
  const { fs } = call.context
  const stat = await fs.lstat(from)
  if (stat.isSymbolicLink) return
  if (stat.isDirectory)
    for (const name of await fs.readdir(from)) await keepTimes(call, childOf(from, name), childOf(to, name))
  await fs.chmod(to, stat.mode & 0o777)
  // A plain Date, because an object of the file system cannot be sent to another thread.
  const time = new Date(stat.mtime.getTime())
  await fs.utimes(to, time, time)
}

async function isInside(call: Call, source: string, path: string): Promise<boolean> {
  const { fs } = call.context
  const stat = await call.listing.look(pathOf(call, source), { follow: true }).catch(() => undefined) // the copy itself reports the error
  if (stat?.isDirectory !== true) return false
  const from = await fs.realpath(pathOf(call, source)).catch(() => undefined) // the copy itself reports the error
  if (from === undefined) return false
  // the copy itself reports the error
  const above = await fs.realpath(path.replace(/\/+$/, '').replace(/\/[^/]*$/, '') || '/').catch(() => undefined)
  return above !== undefined && `${above}/`.startsWith(`${from}/`)
}
