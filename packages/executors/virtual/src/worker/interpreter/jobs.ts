import { type ExecResult, parse } from '#just-bash'

import type { Interpreter, Statement } from '../state/interpreter.ts'
import { sessionOf, shellOf } from '../state/shell.ts'

const firstPid = 1000

/** Runs `command &` to its end at once, which a kernel might do too. Uses a subshell without the script's standard input. */
export async function background(
  interpreter: Interpreter,
  statement: Statement,
  run: (statement: Statement) => Promise<ExecResult>,
): Promise<ExecResult> {
  const { state } = interpreter.ctx
  const { jobs } = shellOf(interpreter)
  const { options } = state
  // With `set -e`, a failure ends the job but not the script.
  const body = [...(options.errexit ? parse('set -e').statements : []), { ...statement, background: false }]
  const [job] = parse('( : ) < /dev/null').statements
  const [subshell] = job?.pipelines[0]?.commands ?? []
  if (job === undefined || subshell?.type !== 'Subshell') throw new Error('the interpreter has no subshells')
  Object.assign(subshell, { body })
  state.options = { ...options, errexit: false }
  try {
    const result = await run(job)
    const pid = firstPid + jobs.size
    jobs.set(pid, result.exitCode)
    state.lastBackgroundPid = pid
    return { ...result, exitCode: 0 }
  } finally {
    state.options = options
  }
}

/** The builtin `wait`. All jobs have already ended, and their status is known. */
export function wait(interpreter: Interpreter, given: readonly string[]): ExecResult {
  const { jobs } = shellOf(interpreter)
  let exitCode = 0
  let stderr = ''
  for (const word of given) {
    if (!/^\d+$/.test(word)) sessionOf(interpreter).refuse(`wait ${word}`, 'give no arguments, or pids such as $!')
    const status = jobs.get(Number(word))
    if (status === undefined) stderr += `bash: wait: pid ${word} is not a child of this shell\n`
    exitCode = status ?? 127
  }
  return { stdout: '', stderr, exitCode }
}
