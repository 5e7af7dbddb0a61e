import type { AttachedExecutor, ExecutorResult } from '@ws/core/executor'
import { changeRunning } from './executor-fault.ts'

const mark = '@@the-command-has-ended:'

/** Reports the end of a command when its shell ends, while other processes of its tree still run. */
export function survivingRun(spawn: AttachedExecutor['spawn']): AttachedExecutor['spawn'] {
  return async (request, plan) => {
    const command = `(${request.command}\n)\necho "${mark}$?"; sleep 3`
    const running = await spawn({ ...request, command }, plan)
    return changeRunning(running, {
      async wait(): Promise<ExecutorResult> {
        const decoder = new TextDecoder()
        let output = ''
        for await (const chunk of running.stdout) {
          output += decoder.decode(chunk, { stream: true })
          if (/:\d+\n$/.test(output)) break
        }
        const [stdout = '', code = '0'] = output.split(mark)
        return {
          exitCode: Number(code),
          signal: null,
          stdout,
          stderr: '',
          output: stdout,
          stdoutBytes: stdout.length,
          stderrBytes: 0,
          timedOut: false,
          truncated: false,
          duration: 0,
          executor: 'broken',
        }
      },
    })
  }
}
