import { bytesOf, Output, pathOf, type ToolResult } from '@ws/shell-tools'

import type { Call, ScriptTool } from '../call.ts'
async function original(call: Call, given: readonly string[] = call.given): Promise<ToolResult> {
  const { origCommand } = call.context
  if (origCommand === undefined) throw new Error(`just-bash has no ${call.name}`)
  return origCommand([...given])
}

/** The command `tar`. Extracted entries get the modes of new files, not those of the archive. */
export const tar: ScriptTool = async (call) => {
  const [mode = '', archive = '', ...given] = call.given
  const rest = mode.includes('c') ? given.map((word) => word.replace(/(.)\/+$/, '$1')) : given
  if (mode.includes('x') && !mode.includes('O')) {
    const listed = await original(call, [`-tv${mode.includes('z') ? 'z' : ''}f`, archive])
    const shown = `${listed.stdout}\n${listed.stderr}`.split('\n')
    const odd = shown.find(
      (line) => /^[-dlhcbps][-rwxsStT]{9}\s/.test(line) && !/^(?:-rw-r--r--|drwxr-xr-x|l\S{9})\s/.test(line),
    )
    if (odd !== undefined) call.host.refuse('tar x', `modes cannot be set here: \`${odd.trim()}\``)
  }
  const plain = `-${mode.replace('-', '').replace('v', '')}`
  const result = await original(call, [plain, archive, ...rest])
  const [, nowhere] = /^tar: ([^:\n]+): .*(?:ENOENT|No such)/im.exec(result.stderr) ?? []
  if (mode.includes('c') && nowhere !== undefined && rest.every((word) => word !== nowhere))
    call.host.refuse('tar c', `'${nowhere}' is a link that leads nowhere`)
  if (!mode.includes('v') || result.exitCode !== 0) return result
  const named = await original(call, [
    plain.replace(/[cxOmp]/, 't').replace(/[Omp]/g, ''),
    archive,
    ...(mode.includes('x') ? rest.filter((word, index) => word !== '-C' && rest[index - 1] !== '-C') : []),
  ])
  return { ...named, stderr: result.stderr }
}

/** The command `gzip`. just-bash itself would compress the target of a link, and remove the link. */
export const gzip: ScriptTool = async (call) => {
  const { fs } = call.context
  const inPlace = !call.given.some((word) => /^-[a-z]*c/.test(word))
  for (const operand of call.given.filter((word) => inPlace && !word.startsWith('-'))) {
    const stat = await fs.lstat(pathOf(call, operand)).catch(() => undefined) // gzip itself reports the error
    if (stat?.isSymbolicLink === true) call.host.refuse(call.name, `'${operand}' is a link; use -c`)
  }
  const result = await original(call)
  // The real `gzip` exits with 2 for these warnings.
  const warns = /already exists|is a directory|unknown suffix/.test(result.stderr)
  return warns && result.exitCode === 1 ? { ...result, exitCode: 2 } : result
}

/** The checksum commands, whose errors just-bash writes to standard output. */
export const checksum: ScriptTool = async (call) => {
  const odd = call.given.findIndex((word) => /[\\\n]/.test(word))
  if (odd !== -1 && call.given.includes('-c')) call.host.refuse(`${call.name} -c`, 'a name with a backslash')
  if (odd !== -1 && call.given.length > 1) return oneByOne(call)
  const result = await original(call)
  if (odd !== -1 && result.exitCode === 0) {
    // A name with a backslash or a line break is printed with escapes, and its line begins with a backslash.
    const name = (call.given[odd] ?? '').replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
    const [hash = ''] = result.stdout.replace(/^\\/, '').split(' ')
    return { ...result, stdout: bytesOf(`\\${hash}  ${name}\n`), stdoutKind: 'bytes' }
  }
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

async function oneByOne(call: Call): Promise<ToolResult> {
  const output = new Output()
  for (const operand of call.given) {
    const result = await checksum({ ...call, given: [operand] })
    output.relay(result)
    output.exitCode = Math.max(output.exitCode, result.exitCode)
  }
  return output.result()
}
