import { z } from 'zod'

import type { Outcome } from '../../answers/problem.ts'
import { inTurn, runCommand } from '../../session/kept-shell.ts'
import type { Call } from '../../session/session.ts'
import { fenced, jsonOf } from '../../text/frame.ts'
import { ruleNotes } from '../../text/rule-notes.ts'
import { changes, faceTool, placeOf } from '../face.ts'
import type { FaceOptions, FaceTool } from '../face.ts'

const defaultTimeout = 120_000
const defaultOutput = 40_960
const timeout = z.int().min(1).max(600_000).optional().describe('Milliseconds for each command. Default 120000')
const output = z.int().min(1).max(1_048_576).optional().describe('Bytes kept of each output. Default 40960')

export function shellTool({ root }: FaceOptions): FaceTool {
  return faceTool({
    name: 'shell',
    description: `Runs shell commands ${placeOf(root)}, one after the other. Gives the outcome and both outputs of each.`,
    input: z.strictObject({
      commands: z.array(z.string().min(1)).min(1).max(50).describe('The commands to run'),
      timeoutMs: timeout,
      timeout_ms: timeout,
      maxOutputLength: output,
      max_output_length: output,
    }),
    example: { commands: ['ls -la'] },
    annotations: changes,
    runsCommands: true,
    run(call, given) {
      const limits = {
        timeout: given.timeoutMs ?? given.timeout_ms ?? defaultTimeout,
        maxOutputBytes: given.maxOutputLength ?? given.max_output_length ?? defaultOutput,
      }
      return inTurn(call, () => runAll(call, given.commands, limits))
    },
  })
}

async function runAll(
  call: Call,
  commands: readonly string[],
  limits: { readonly timeout: number; readonly maxOutputBytes: number },
): Promise<Outcome> {
  const results = []
  for (const command of commands) {
    const { result, notes } = await runCommand(call, command, limits)
    if ('error' in result) throw result.error
    const { stdout, timedOut, exitStatus } = result
    const stderr = [fenced(result.stderr), ...[...ruleNotes(result), ...notes].map((note) => `${note}\n`)].join('')
    const outcome = timedOut ? { type: 'timeout' } : { type: 'exit', exitCode: exitStatus }
    results.push({ stdout, stderr, outcome })
  }
  return { text: jsonOf(results), data: { output: results } }
}
