import { Output, parseArguments } from '@ws/shell-tools'

import type { ScriptTool } from '../call.ts'
import { runProgram } from './run-program.ts'
import { stopMark } from '../state/session.ts'

export const timeoutOptions = {
  flags: 'f',
  valued: 'ks',
  long: ['kill-after=', 'signal=', 'foreground'],
  leading: true,
}

const units: Readonly<Record<string, number>> = { '': 1_000, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const signals: Readonly<Record<string, number>> = { TERM: 124, INT: 124, HUP: 124, KILL: 137 }

export const timeout: ScriptTool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(timeoutOptions, call.given)
  const signal = (options.findLast(({ name }) => name === '-s' || name === '--signal')?.value ?? 'TERM').replace(
    /^SIG/,
    '',
  )
  const status = signals[signal === '9' ? 'KILL' : signal]
  if (status === undefined) return call.host.refuse(`timeout -s ${signal}`, 'use TERM, INT, HUP or KILL')
  const [time = '', ...words] = operands
  const [, digits, unit = ''] = /^(\d+\.?\d*|\.\d+)([smhd]?)$/.exec(time) ?? []
  if (operands.length < 2) output.fail('timeout: missing operand', 125)
  else if (digits === undefined) output.fail(`timeout: invalid time interval '${time}'`, 125)
  if (output.exitCode !== 0) return output.result()
  const duration = Number(digits) * (units[unit] ?? 0)
  const input = call.context.stdin
  if (duration === 0) return runProgram(call, words, input)
  const { over, result } = await call.host.within(duration, () => runProgram(call, words, input, { check: false }))
  if (result !== undefined) output.relay(over ? { ...result, stderr: result.stderr.replaceAll(stopMark, '') } : result)
  output.exitCode = over ? status : (result?.exitCode ?? 0)
  return output.result()
}
