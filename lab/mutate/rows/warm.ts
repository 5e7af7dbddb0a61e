import type { Mutations } from '../types.ts'

export const warmMutations: Mutations = {
  'a warm command that finds what the last one left, or what one beside it has: processes, memory, queues, sockets, terminals, counts':
    [
      {
        removes: 'the IPC namespace of each command',
        text: '0x38020011',
        by: '0x30020011',
        title: 'leaves nothing for the next',
      },
      {
        removes: 'the network namespace of each command',
        changes: [
          { text: '($net ? 0x40000000 : 0)', by: '0' },
          { text: 'if ($net) {', by: 'if (0) {' },
        ],
        title: 'shares its sockets alone',
      },
    ],
  'output that a command gives to another (`SCM_RIGHTS`), which writes on after its end, or keeps it from ending': [
    {
      removes: 'the end of a session at its mark',
      text: 'whole = offset',
      by: 'whole = Infinity',
      test: 'packages/kernel/sandbox/test/terminal/terminal.test.ts',
      title: 'nothing counts',
    },
    {
      removes: 'the reading of the content of the pipes at the end',
      text: 'fd < 0 ? 0 : readNow(fd, rest)',
      by: '0',
      title: 'is read whole at the end',
    },
  ],
  'a warm command that keeps a right with which its sandbox was made, or runs without a cover': [
    {
      removes: 'the comparison of the mounts with the plan',
      text: '    if (!checkMounts(() => check?.(spare.child))) return giveUp()\n',
      test: 'packages/executors/bubblewrap/test/mount-check.isolated.test.ts',
    },
  ],
  'the death of what answers these calls, at which a command would see something else and end well': [
    {
      removes: 'the doubt about a warm command whose tracer said no status',
      text: 'my ($status) = $said =~ /^(\\d+)\\n/ or return;',
      by: 'my $status = $said =~ /^(\\d+)\\n/ ? $1 : 0;',
      title: 'the tracer of a command is killed',
    },
  ],
}
