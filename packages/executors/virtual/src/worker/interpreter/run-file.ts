import { codeOf, errorWords } from '@ws/shell-tools/files'
import type { ExecResult } from 'just-bash'

import type { Interpreter } from '../state/interpreter.ts'
import { sessionOf, shellOf } from '../state/shell.ts'

interface Files {
  readFileBuffer(path: string): Promise<Uint8Array>
}

/** Runs an executable file as a script of `sh` or `bash`, in a shell of its own, or of python. */
export async function runFile(
  interpreter: Interpreter,
  path: string,
  given: readonly string[],
  stdin = '',
): Promise<ExecResult> {
  let start: string
  try {
    start = Buffer.from(await (interpreter.ctx.fs as Files).readFileBuffer(path)).toString('latin1', 0, 256)
  } catch (error) {
    return { stdout: '', stderr: `bash: ${path}: ${errorWords[codeOf(error)] ?? codeOf(error)}\n`, exitCode: 126 }
  }
  const [line = ''] = start.split('\n')
  if (line.includes('\0'))
    return { stdout: '', stderr: `bash: ${path}: cannot execute binary file: Exec format error\n`, exitCode: 126 }
  const words = line.startsWith('#!') ? line.slice(2).trim().split(/\s+/) : ['bash']
  if (/(?:^|\/)env$/.test(words[0] ?? '')) words.shift()
  const [program = '', ...options] = words
  const name = program.replace(/^.*\//, '')
  if (!sessionOf(interpreter).interpreters.has(name)) {
    sessionOf(interpreter).missing ??= name
    return { stdout: '', stderr: `bash: ${path}: ${name}: bad interpreter: No such file or directory\n`, exitCode: 127 }
  }
  const { called } = shellOf(interpreter)
  const all = [...options, called.includes('/') ? called : path, ...given]
  return interpreter.runCommand(
    name,
    all,
    all.map(() => true),
    stdin,
    true,
    true,
  )
}
