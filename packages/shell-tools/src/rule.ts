import { type Arguments, type OptionTable, parseArguments } from './options.ts'

/** The supported forms of a command. Each form was compared with the real command, and gives equal results. */
export interface CommandRule extends OptionTable {
  /** Short options without effect here, which are removed. */
  readonly ignored?: string | undefined
  /** Options inserted before all others. */
  readonly preset?: readonly string[] | undefined
  /** The command parses its own arguments. */
  readonly raw?: boolean | undefined
  readonly refuse?: ((call: Arguments) => string | undefined) | undefined
}

/** The reason why the command never runs. */
type RefusedCommand = string

/** @returns the refused part (`sort -R`) and the reason; `undefined` for a call that may run */
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
