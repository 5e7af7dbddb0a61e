import type { Command } from './interpreter.ts'

interface Redirected {
  readonly redirections?: readonly {
    readonly operator: string
    readonly fd?: number | null
    readonly target: { readonly parts?: readonly { readonly type: string; readonly value?: string }[] }
  }[]
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
    const to = target.parts?.[0]?.value ?? ''
    const isError = operator === '>&' ? descriptors.has(to) : operator.startsWith('>') && errorFiles.has(to)
    if (!isError) continue
    if ((fd ?? 1) === 1) goes = true
    else descriptors.add(String(fd))
  }
  return goes
}

/** True for `exec` without a program: its redirections hold from then on. */
export function isBareExec(command: Command): boolean {
  if (command.type !== 'SimpleCommand') return false
  const [part] = (command.name?.parts ?? []) as readonly { readonly value?: string }[]
  return part?.value === 'exec' && command.args.length === 0
}
