import { z } from 'zod'

import { ToolProblem } from '../../answers/problem.ts'
import { longestTimeout } from '../../operations/execute.ts'
import { operations } from '../../operations/table.ts'
import { changes, faceTool, placeOf, readsOnly } from '../face.ts'
import type { FaceOptions, FaceTool } from '../face.ts'

export function claudeBash(options: FaceOptions): FaceTool[] {
  return [bashTool(options), taskOutputTool(), taskStopTool()]
}

function bashTool({ root }: FaceOptions): FaceTool {
  return faceTool({
    name: 'Bash',
    description: `Runs a shell command ${placeOf(root)}. Gives the exit code and both outputs.`,
    input: z.strictObject({
      command: z.string().min(1).describe('The command to run'),
      timeout: z
        .number()
        .min(1)
        .max(longestTimeout)
        .optional()
        .describe('Milliseconds, at most 600000. Default 120000'),
      description: z.string().optional().describe('A few words on the command'),
      run_in_background: z.boolean().optional().describe('Return at once; read the output later with TaskOutput'),
    }),
    example: { command: 'ls -la' },
    annotations: changes,
    runsCommands: true,
    run: (call, { command, timeout, run_in_background: background }) =>
      operations.execute.handle(call, {
        command,
        timeout: timeout === undefined ? undefined : Math.ceil(timeout),
        background,
      }),
  })
}

function taskOutputTool(): FaceTool {
  return faceTool({
    name: 'TaskOutput',
    description: 'Shows the new output of a command in the background.',
    input: z.strictObject({
      task_id: z.string().min(1).describe('The id that Bash gave'),
      block: z.boolean().optional().describe('Wait for the end of the command. Default false'),
      timeout: z.number().min(0).max(longestTimeout).optional().describe('Milliseconds to wait at most. Default 30000'),
    }),
    example: { task_id: 'c1' },
    annotations: readsOnly,
    runsCommands: true,
    async run(call, { task_id: id, block = false, timeout = 30_000 }) {
      call.pass()
      if (block && call.session.background.has(id)) await ended(call.workspace.command(id).wait(), timeout, call.signal)
      return operations.execute.handle(call, { id })
    },
  })
}

function taskStopTool(): FaceTool {
  return faceTool({
    name: 'TaskStop',
    description: 'Ends a command in the background.',
    input: z.strictObject({
      task_id: z.string().min(1).optional().describe('The id that Bash gave'),
      shell_id: z.string().min(1).optional().describe('The same as task_id'),
    }),
    example: { task_id: 'c1' },
    annotations: changes,
    runsCommands: true,
    run(call, { task_id: task, shell_id: shell }) {
      const id = task ?? shell
      if (id !== undefined) return operations.execute.handle(call, { id, kill: true })
      throw new ToolProblem({
        sentence: '`TaskStop` needs the argument `task_id` (text that is not empty), which is missing',
        remedy: 'give the id that Bash gave',
        next: { tool: 'TaskStop', arguments: { task_id: [...call.session.background.keys()][0] ?? 'c1' } },
        data: { code: 'EINVAL', argument: 'task_id' },
      })
    },
  })
}

async function ended(end: Promise<unknown>, timeout: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeout)
  const abort = (): void => {
    reject(signal?.reason)
  }
  signal?.addEventListener('abort', abort, { once: true })
  void end.then(() => resolve()).catch(() => resolve())
  try {
    await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
