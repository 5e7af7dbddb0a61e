import type { Descriptors, DescriptorSource, Limits, RunningProcess } from '@ws/sandbox'

/** The waiting shell reads its word from this descriptor. The loader and later programs do not have the descriptor. */
const wordDescriptor = 8

const script = `read -r word <&${wordDescriptor} && test "$word" = go && exec "$@" ${wordDescriptor}<&-`

/** proot waits until it is in its control group. Children started earlier would remain outside the group. */
export interface JoiningCommand {
  readonly argv: readonly string[]
  readonly extraFds: Descriptors.ExtraDescriptors
  /** The listener of `startProcess`. */
  readonly onStarted: (pid: number) => void
  sendGo(started: RunningProcess): void
}

export function joining(
  group: Limits.CommandGroup,
  { argv, extraFds }: { readonly argv: readonly string[]; readonly extraFds: Descriptors.ExtraDescriptors },
): JoiningCommand {
  return {
    argv: ['/bin/sh', '-c', script, 'sh', ...argv],
    extraFds: new Map<number, DescriptorSource>([...extraFds, [wordDescriptor, 'pipe']]),
    onStarted: (pid) => group.join(pid),
    sendGo: (started) => started.pipes.get(wordDescriptor)?.end('go\n'),
  }
}
