import { isFish } from './family.ts'

const harmless = /^[A-Za-z0-9_@%+:,./-]+$/

/**
 * One word that the shell reads back as exactly this text. What needs no quotes gets none, so that a joined command stays
 * readable; a `=` or `~` is always quoted, since a shell may give it a meaning.
 */
export function quoteArgument(argument: string, shell = '/bin/sh'): string {
  if (harmless.test(argument)) return argument
  // Between single quotes POSIX gives no character a meaning but the quote itself; fish also the backslash.
  return isFish(shell) ? `'${argument.replace(/[\\']/g, '\\$&')}'` : `'${argument.replaceAll("'", `'\\''`)}'`
}
