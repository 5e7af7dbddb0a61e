import { isWorkspaceError, type CommandResult, type ErrorCode, type Workspace } from '@ws/core'
import type { GuaranteeField } from '@ws/core/executor'

import { escapeName } from '../terminal/escape.ts'
import type { Site } from './types.ts'

/** A check that does not hold; the message says what was seen instead. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure'
}

const longest = 160

/** Any value as one short line. */
function show(value: unknown): string {
  const text = typeof value === 'string' ? `"${escapeName(value)}"` : String(JSON.stringify(value))
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new CheckFailure(`${what}: ${show(actual)} instead of ${show(expected)}`)
  }
}

/** Two sets of names; the names that only one has are reported. */
export function expectSame(actual: readonly string[], expected: readonly string[], what: string): void {
  const missing = expected.filter((name) => !actual.includes(name))
  const surplus = actual.filter((name) => !expected.includes(name))
  if (missing.length + surplus.length === 0) return
  throw new CheckFailure(`${what}: lacks ${show(missing)}, has ${show(surplus)} too`)
}

export function expectTrue(condition: boolean, otherwise: string): void {
  if (!condition) throw new CheckFailure(otherwise)
}

/** Nothing of a secret may be seen. */
export function expectHidden(text: string, secret: string, where: string): void {
  if (text.includes(secret)) throw new CheckFailure(`${where} shows what must be hidden`)
}

/** The operation is refused with one of these codes, and its message has no host path. */
export async function expectRefusal(
  site: Site,
  codes: readonly ErrorCode[],
  what: string,
  operation: () => Promise<unknown>,
): Promise<void> {
  let result: unknown
  try {
    result = await operation()
  } catch (error) {
    if (!isWorkspaceError(error) || !codes.includes(error.code)) {
      throw new CheckFailure(`${what}: ${show(String(error))} instead of ${codes.join(' or ')}`)
    }
    const { project, skills } = site.world
    expectTrue(
      ![project, skills].some((path) => error.message.includes(path)),
      `${what}: the message names a host path`,
    )
    return
  }
  throw new CheckFailure(`${what}: allowed instead of ${codes.join(' or ')} (${show(result)})`)
}

/** Runs through a listing or search to its end. */
export const drain = async (iterable: AsyncIterable<unknown>): Promise<unknown[]> => await Array.fromAsync(iterable)

/**
 * Runs an attack in commands. Where the executor does not hold the boundary by the kernel it may refuse to start; then the
 * refusal is the pass. An attack that runs must have no effect.
 */
export async function attack(
  site: Site,
  field: GuaranteeField,
  workspace: Workspace,
  command: string,
): Promise<{ readonly refused: boolean; readonly output: string }> {
  try {
    const options = { login: false, shell: '/bin/sh', timeout: 20_000 }
    return { refused: false, output: await toItsEnd(command, (line) => workspace.exec(line, options)) }
  } catch (error) {
    if (!isWorkspaceError(error, 'EUNENFORCEABLE') || site.guarantees[field] !== 'none') throw error
    expectTrue(
      error.rule !== undefined && error.message.includes(site.executor),
      'the refusal names no rule or executor',
    )
    return { refused: true, output: '' }
  }
}

const marker = 'ran to its end'
/** How the virtual executor ends a script that it refuses. */
const refusedCode = 126
const refusal = /not supported by the virtual executor/

/**
 * The output of a command at both streams. That it printed nothing of a secret means something only if it ran: it has
 * to reach its end.
 */
export async function toItsEnd(command: string, run: (command: string) => Promise<CommandResult>): Promise<string> {
  const { stdout, stderr, exitCode } = await run(`${command}\necho '${marker}'`)
  if (exitCode === refusedCode && refusal.test(stderr)) return stdout + stderr + (await oneByOne(command, run))
  expectTrue(stdout.endsWith(`${marker}\n`), `the command did not run to its end: ${show(stdout + stderr)}`)
  return stdout.slice(0, -marker.length - 1) + stderr
}

/** The interpreter ends a whole script at what it does not have: then each statement has its turn alone. */
async function oneByOne(command: string, run: (command: string) => Promise<CommandResult>): Promise<string> {
  const statements = /\b(?:for|while|if)\b|\{/.test(command) ? [] : command.split(/;\s*|\n/)
  let before = ''
  let said = ''
  for (const statement of statements) {
    const { stdout, stderr } = await run(before + statement)
    said += stdout + stderr
    if (/^cd \S+$/.test(statement)) before += `${statement}; `
  }
  return said
}

/** A boundary that is not held as one must be refused to a caller that requires it. */
export async function refusedWhenRequired(site: Site, field: GuaranteeField): Promise<void> {
  const opened = await site.require(field, 'kernel').catch((error: unknown) => {
    if (isWorkspaceError(error, 'ENOEXECUTOR')) return undefined
    throw error
  })
  if (opened === undefined) return
  await opened.close()
  throw new CheckFailure(`${field} is ${site.guarantees[field]}, yet a workspace that requires kernel opens`)
}

/** A word for the shell. */
export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`
