import type { ExecResult } from 'just-bash'

import type { Invocation, Tool } from './tool.ts'

async function original(call: Invocation, given: readonly string[] = call.given): Promise<ExecResult> {
  const { origCommand } = call.context
  if (origCommand === undefined) throw new Error(`just-bash has no ${call.name}`)
  return origCommand([...given])
}

/** Reads and writes archives; modes other than those of new files cannot be given to what is taken out. */
export const tar: Tool = async (call) => {
  const [mode = '', archive = '', ...rest] = call.given
  if (mode.includes('x') && !mode.includes('O')) {
    const listed = await original(call, [`-tv${mode.includes('z') ? 'z' : ''}f`, archive])
    const shown = `${listed.stdout}\n${listed.stderr}`.split('\n')
    const odd = shown.find(
      (line) => /^[-dlhcbps][-rwxsStT]{9}\s/.test(line) && !/^(?:-rw-r--r--|drwxr-xr-x|l\S{9})\s/.test(line),
    )
    if (odd !== undefined) call.session.refuse('tar x', `modes cannot be set here: \`${odd.trim()}\``)
  }
  const plain = `-${mode.replace('-', '').replace('v', '')}`
  const result = await original(call, [plain, archive, ...rest])
  if (!mode.includes('v') || result.exitCode !== 0) return result
  const named = await original(call, [
    plain.replace(/[cxOmp]/, 't').replace(/[Omp]/g, ''),
    archive,
    ...(mode.includes('x') ? rest.filter((word, index) => word !== '-C' && rest[index - 1] !== '-C') : []),
  ])
  return { ...named, stderr: result.stderr }
}

/** just-bash writes what cannot be read to standard output. */
export const checksum: Tool = async (call) => {
  const result = await original(call)
  const lines = result.stdout.split(/(?<=\n)/)
  const failed = lines.filter((line) =>
    /^(?:md5|sha\d+)sum: .*: (?:No such file|Is a dir|Permission|Not a dir)/.test(line),
  )
  if (failed.length === 0) return result
  return {
    ...result,
    stdout: lines.filter((line) => !failed.includes(line)).join(''),
    stderr: result.stderr + failed.join(''),
    exitCode: 1,
  }
}
