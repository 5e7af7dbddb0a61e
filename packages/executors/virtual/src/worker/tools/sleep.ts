import { Output, parseArguments } from '@ws/shell-tools'

import type { ScriptTool } from '../call.ts'
const units: Readonly<Record<string, number>> = { '': 1_000, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export const sleep: ScriptTool = async (call) => {
  const output = new Output()
  const { operands } = parseArguments({}, call.given)
  let duration = 0
  for (const operand of operands) {
    const [, digits, unit = ''] = /^(\d+\.?\d*|\.\d+)([smhd]?)$/.exec(operand) ?? []
    if (digits === undefined) output.fail(`sleep: invalid time interval '${operand}'`)
    else duration += Number(digits) * (units[unit] ?? 0)
  }
  if (operands.length === 0) output.fail('sleep: missing operand')
  if (output.exitCode === 0) await call.host.pause(duration)
  return output.result()
}
