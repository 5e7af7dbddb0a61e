import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { resolve } from 'node:path'

export const repositoryRoot = resolve(import.meta.dirname, '../..')

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Runs a program that prints to this process's output. Returns its exit code (a signal counts as 1). */
export function run(program: string, args: readonly string[], options: RunOptions = {}): number {
  return start(program, args, options, 'inherit').status ?? 1
}

/** Runs a program, and returns its standard output. Throws an error with the whole output if the exit code is not 0. */
export function capture(program: string, args: readonly string[], options: RunOptions = {}): string {
  const { status, stdout, stderr } = start(program, args, options, 'pipe')
  if (status === 0) return stdout
  throw new Error(`${[program, ...args].join(' ')}: exit code ${String(status)}\n${stdout}${stderr}`)
}

function start(
  program: string,
  args: readonly string[],
  { cwd = repositoryRoot, env = process.env }: RunOptions,
  output: 'inherit' | 'pipe',
): SpawnSyncReturns<string> {
  const maxBuffer = 64 * 1024 * 1024
  const result = spawnSync(program, args, { cwd, env, stdio: ['ignore', output, output], encoding: 'utf8', maxBuffer })
  if (result.error !== undefined) throw result.error
  return result
}
