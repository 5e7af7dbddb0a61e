import { type CustomCommand, defineCommand, type ExecResult } from 'just-bash'

import { errorWords } from '../files/errors.ts'
import type { BashFileSystem } from '../files/system.ts'

/** These give up at the first directory that they may not list, where the real ones go on and say so. */
const walkers = ['find', 'du', 'tree']

/** Commands of just-bash, put right where it does not expect that a file is refused. */
export function correctedCommands(files: BashFileSystem): CustomCommand[] {
  return [
    ...walkers.map((name) =>
      correct(name, async (original) => {
        const { result, refused } = await files.skipRefused(original)
        return complain(
          result,
          refused.map((path) => `${name}: '${path}': Permission denied`),
        )
      }),
    ),
    // `-f` is about what is not there; just-bash is silent about everything.
    correct('rm', async (original) => {
      const before = files.failures.length
      const result = await original()
      if (result.exitCode !== 0 || result.stderr !== '') return result
      const refused = new Map(files.failures.slice(before).map(({ path, code }) => [path, code]))
      return complain(
        result,
        [...refused].map(([path, code]) => `rm: cannot remove '${path}': ${errorWords[code] ?? code}`),
      )
    }),
  ]
}

function correct(name: string, run: (original: () => Promise<ExecResult>) => Promise<ExecResult>): CustomCommand {
  return defineCommand(
    name,
    async (parameters, { origCommand }) => {
      if (origCommand === undefined) return { stdout: '', stderr: `bash: ${name}: command not found\n`, exitCode: 127 }
      return run(() => origCommand(parameters))
    },
    { trusted: false },
  )
}

function complain(result: ExecResult, lines: readonly string[]): ExecResult {
  if (lines.length === 0) return result
  const stderr = result.stderr + lines.map((line) => `${line}\n`).join('')
  return { ...result, stderr, exitCode: result.exitCode === 0 ? 1 : result.exitCode }
}
