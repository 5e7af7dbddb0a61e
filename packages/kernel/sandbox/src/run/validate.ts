import { invalid } from '../errors.ts'
import type { StartProcessOptions } from './types.ts'

export const longestTimeout = 2 ** 31 - 1

export function validateStart(options: StartProcessOptions): void {
  const operation = options.operation ?? 'exec'
  const fail = (reason: string, remedy?: string): never => {
    throw invalid(operation, reason, remedy)
  }
  const program = options.argv[0]
  if (program === undefined || !program.startsWith('/'))
    fail('the program must be an absolute path', 'resolve it first')
  if (options.argv.some((argument) => argument.includes('\0'))) fail('an argument contains NUL')
  if (options.cwd !== undefined && (!options.cwd.startsWith('/') || options.cwd.includes('\0')))
    fail('the working directory must be an absolute path')
  validateEnvironment(options.env ?? {}, operation)
  for (const name of ['timeout', 'maxOutputBytes', 'killGrace', 'drainGrace'] as const) {
    const value = options[name]
    if (value === undefined) continue
    if (!Number.isInteger(value) || value < 0 || value > longestTimeout || (name === 'timeout' && value === 0))
      fail(`\`${name}\` must be a whole number from ${name === 'timeout' ? 1 : 0} to ${longestTimeout}`)
  }
  for (const name of ['uid', 'gid'] as const) {
    const value = options[name]
    if (value !== undefined && (!Number.isInteger(value) || value < 0 || value > 0xfffffffe))
      fail(`\`${name}\` must be a whole number`)
  }
  if ((options.uid === undefined) !== (options.gid === undefined)) fail('`uid` and `gid` go together')
  validateDescriptors(options.extraFds?.keys() ?? [], operation)
}

/** Refuses variables that the kernel and shells cannot represent: `=` or NUL in a name, or NUL in a value. */
export function validateEnvironment(env: Readonly<Record<string, string>>, operation: string): void {
  for (const [name, value] of Object.entries(env)) {
    if (name === '' || /[=\0]/.test(name))
      throw invalid(operation, 'the name of an environment variable is empty or holds = or NUL')
    if (typeof value !== 'string' || value.includes('\0'))
      throw invalid(operation, `the environment variable \`${name}\` must be text without NUL`)
  }
}

export function validateDescriptors(numbers: Iterable<number>, operation: string): void {
  for (const fd of numbers) {
    if (!Number.isInteger(fd) || fd < 3 || fd > 255) throw invalid(operation, 'extra descriptors are numbered 3 to 255')
  }
}
