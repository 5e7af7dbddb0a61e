import { readFileSync } from 'node:fs'

import type { DescriptorSource, ExtraDescriptors } from '../run/types.ts'

/** The descriptor of a command's terminal: one digit, for shell scripts. */
export const terminalDescriptor = 6

// Variables only for the command, not for the perl process that leads its session.
const forCommandOnly = /^(?:PERL|LD_)/
const setsidNumber = process.arch === 'arm64' ? 157 : 112

export interface TerminalCommand {
  readonly argv: readonly string[]
  readonly env: Record<string, string>
  readonly extraFds: ExtraDescriptors
}

/** Runs a command on a terminal, as a child of the session leader (`leader.pl`). @param terminal the slave's descriptor here */
export function terminalCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  terminal: number,
): TerminalCommand {
  const leader = readFileSync(new URL('leader.pl', import.meta.url), 'utf8')
  const entries = Object.entries(env)
  const own = entries.filter(([name]) => forCommandOnly.test(name)).map(([name, value]) => `${name}=${value}`)
  const command = own.length === 0 ? argv : ['/usr/bin/env', '--', ...own, ...argv]
  return {
    argv: ['/usr/bin/perl', '-e', leader, '--', String(setsidNumber), ...command],
    env: Object.fromEntries(entries.filter(([name]) => !forCommandOnly.test(name))),
    extraFds: new Map<number, DescriptorSource>([[terminalDescriptor, terminal]]),
  }
}
