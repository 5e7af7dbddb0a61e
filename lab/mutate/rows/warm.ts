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
      {
        removes: 'the terminals of each command',
        text: "mounted('pts', 'devpts', $pts, 10, 'newinstance,ptmxmode=0666,mode=620');",
        title: 'shares its sockets alone',
      },
      {
        removes: 'the files in memory of each command',
        text: " memory('shm', '/dev/shm', 0, $size);",
        title: 'leaves nothing for the next',
      },
    ],
  'a warm command that forges its exit status, or signals the supervisor': [
    {
      removes: 'the lock on the memory of the first process',
      text: " call('prctl', 4, 0, 0, 0, 0) == 0 or fail('dumpable');",
      title: 'can neither forge',
    },
  ],
  'a supervisor of warm commands that dies, lies or stops answering': [
    {
      removes: 'the look at a process that is said to have ended',
      text: '    if (isAlive(entry.child)) return false\n',
      title: 'which lives',
    },
    {
      removes: 'the end of patience after a command has ended',
      text: "    report.stream?.once('close', running.expectEnd)\n",
      title: 'that does not answer',
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
  'a warm sandbox that shows an older tree: a root that was replaced, a mount or a rule that came since': [
    {
      removes: 'the identity of directories',
      text: '      source !== undefined && sources.identity(source),\n',
      title: 'took the place of the root',
    },
    {
      removes: 'the end of a supervisor whose mounts are gone',
      text: 'if (split.top === undefined) pool.retire(supervisor)',
      title: 'removed from outside',
    },
  ],
  'a warm command that keeps a right with which its sandbox was made, or runs without a cover': [
    { removes: 'the drop of rights in the command', text: 'confine();\n  my $cwd', by: 'my $cwd', title: 'are closed' },
    {
      removes: 'the comparison of the mounts with the plan',
      text: '    if (!checkMounts(() => check?.(spare.child))) return giveUp()\n',
      test: 'packages/executors/bubblewrap/test/mount-check.isolated.test.ts',
    },
    {
      removes: 'the seal of a closed directory before the tree is copied to an alias',
      text: "$seal->(); bind_('again'",
      by: "bind_('again'",
      title: 'below each alias',
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
  'a name that is kept at `/` between commands, and is not the one that was reserved any more': [
    {
      removes: 'the look at names that are kept',
      text: 'if (!isThere) await this.#drop(key)',
      by: 'if (!isThere) continue',
      title: 'has removed one',
    },
  ],
}
