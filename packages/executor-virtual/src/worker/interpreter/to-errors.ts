import { textOf, type Word } from '../syntax/nodes.ts'
import type { Command } from './interpreter.ts'

interface Redirected {
  readonly redirections?: readonly { readonly operator: string; readonly fd?: number | null; readonly target: Word }[]
}

const errorFiles: ReadonlySet<string> = new Set(['/dev/stderr', '/dev/fd/2'])

/**
 * True for a command with `>&2`: its standard output goes to standard error. `descriptors` holds the numbers that stand for
 * standard error, as text; this adds those that the command opens.
 */
export function goesToErrors(command: Command, descriptors: Set<string>): boolean {
  const { redirections = [] } = command as Redirected
  let goes = false
  for (const { operator, fd, target } of redirections) {
    const to = textOf(target)
    const isError = operator === '>&' ? descriptors.has(to) : operator.startsWith('>') && errorFiles.has(to)
    if (!isError) continue
    if ((fd ?? 1) === 1) goes = true
    else descriptors.add(String(fd))
  }
  return goes
}

/** True for `exec` without a program: its redirections hold from then on. */
export function isBareExec(command: Command): boolean {
  return command.type === 'SimpleCommand' && command.args.length === 0 && textOf(command.name as Word | null) === 'exec'
}

/** `$(< file)` reads a file without a command. */
export function readsFile(command: Command): boolean {
  return (
    JSON.stringify(command).includes('"type":"CommandSubstitution"') &&
    JSON.stringify(command).includes('"operator":"<"')
  )
}
