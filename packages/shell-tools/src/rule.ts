import { type Arguments, type OptionTable, parseArguments } from './options.ts'

/** The forms of one command that were compared with the real command, and that give the same. */
export interface CommandRule extends OptionTable {
  /** Short options that change nothing here: they are taken off. */
  readonly ignored?: string | undefined
  /** Options that come before all others. */
  readonly preset?: readonly string[] | undefined
  /** True for a command that looks at its arguments itself. */
  readonly raw?: boolean | undefined
  /** The reason why these arguments are refused. */
  readonly refuse?: ((call: Arguments) => string | undefined) | undefined
}

/** The command is not run at all, and why. */
export type RefusedCommand = string

/** @returns what is refused (`sort -R`) and why; undefined for a call that may run */
export function refusalOf(
  name: string,
  rule: CommandRule | RefusedCommand,
  given: readonly string[],
): { readonly subject: string; readonly reason: string } | undefined {
  if (typeof rule === 'string') return { subject: name, reason: rule }
  const call =
    rule.raw === true
      ? { options: [], operands: given }
      : parseArguments({ ...rule, flags: `${rule.flags ?? ''}${rule.ignored ?? ''}` }, given)
  if (call.unknown !== undefined) {
    return { subject: `${name} ${call.unknown}`, reason: `use ${supported(rule)}` }
  }
  const reason = rule.refuse?.(call)
  return reason === undefined ? undefined : { subject: name, reason }
}

function supported({ flags = '', valued = '', long = [] }: CommandRule): string {
  const names = [
    ...[...flags, ...valued].map((letter) => `-${letter}`),
    ...long.map((name) => `--${name.replace(/=.*$/, '')}`),
  ]
  return names.length === 0 ? 'it without options' : names.join(' ')
}
