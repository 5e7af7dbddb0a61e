import type { Descriptors, DescriptorSource, Limits, RunningProcess } from '@ws/sandbox'

/** The descriptor from which the waiting shell reads the word `go`. Closed for the loader and later programs. */
const wordDescriptor = 8

const script = `read -r word <&${wordDescriptor} && test "$word" = go && exec "$@" ${wordDescriptor}<&-`

/** A shell that waits until it is in the control group, then becomes proot. Children started before would remain outside the group. */
export interface JoiningCommand {
  readonly argv: readonly string[]
  readonly extraFds: Descriptors.ExtraDescriptors
  /** The option `onStarted` of `startProcess`. */
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
