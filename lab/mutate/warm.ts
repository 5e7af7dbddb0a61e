import type { Mutation } from './types.ts'

const spare = 'packages/executors/bubblewrap/src/warm/spare.pl'
const start = 'packages/executors/bubblewrap/src/warm/start.ts'
const neighbours = 'packages/executors/bubblewrap/test/warm/neighbours.test.ts'
const supervisor = 'packages/executors/bubblewrap/test/warm/supervisor.test.ts'

const shared =
  'a warm command that finds what the last one left, or what one beside it has: processes, memory, queues, sockets, terminals, counts'
const forged = 'a warm command that forges its exit status, or signals the supervisor'
const lies = 'a supervisor of warm commands that dies, lies or stops answering'
const given =
  'output that a command gives to another (`SCM_RIGHTS`), which writes on after its end, or keeps it from ending'
const old = 'a warm sandbox that shows an older tree: a root that was replaced, a mount or a rule that came since'
const unlisted = 'the death of what answers these calls, at which a command would see something else and end well'
const kept = 'a name that is kept at `/` between commands, and is not the one that was reserved any more'
const rights = 'a warm command that keeps a right with which its sandbox was made, or runs without a cover'

/** Commands in sandboxes that are kept ready. */
export const warmMutations: readonly Mutation[] = [
  {
    row: shared,
    removes: 'the IPC namespace of each command',
    file: spare,
    text: '0x38020011',
    by: '0x30020011',
    test: { file: neighbours, title: 'leaves nothing for the next' },
  },
  {
    row: shared,
    removes: 'the network namespace of each command',
    changes: [
      { file: spare, text: '($net ? 0x40000000 : 0)', by: '0' },
      { file: spare, text: 'if ($net) {', by: 'if (0) {' },
    ],
    test: { file: neighbours, title: 'shares nothing with one' },
  },
  {
    row: shared,
    removes: 'the terminals of each command',
    file: spare,
    text: "mounted('pts', 'devpts', $pts, 10, 'newinstance,ptmxmode=0666,mode=620');",
    test: { file: neighbours, title: 'shares nothing with one' },
  },
  {
    row: shared,
    removes: 'the files in memory of each command',
    file: spare,
    text: " memory('shm', '/dev/shm', 0, $size);",
    test: { file: neighbours, title: 'leaves nothing for the next' },
  },
  {
    row: forged,
    removes: 'the lock on the memory of the first process',
    file: spare,
    text: " call('prctl', 4, 0, 0, 0, 0) == 0 or fail('dumpable');",
    test: { file: neighbours, title: 'can neither forge' },
  },
  {
    row: lies,
    removes: 'the look at a process that is said to have ended',
    file: 'packages/executors/bubblewrap/src/warm/supervisor.ts',
    text: '    if (isAlive(entry.child)) return false\n',
    test: { file: 'packages/executors/bubblewrap/test/warm/wire.test.ts', title: 'which lives' },
  },
  {
    row: lies,
    removes: 'the end of patience after a command has ended',
    file: start,
    text: "    report.stream?.once('close', running.expectEnd)\n",
    test: { file: supervisor, title: 'that does not answer' },
  },
  {
    row: given,
    removes: 'the close of the pipes of a command that has ended',
    file: 'packages/kernel/sandbox/src/run/read-output.ts',
    text: '  stream.destroy()\n  return isClosed',
    by: '  return isClosed',
    test: { file: 'lab/tests-commands/test/ends/given-away.test.ts', title: 'a command ends when' },
  },
  {
    row: given,
    removes: 'the end of a session at its mark',
    file: 'packages/kernel/sandbox/src/terminal/start.ts',
    text: 'whole = offset',
    by: 'whole = Infinity',
    test: { file: 'packages/kernel/sandbox/test/terminal/terminal.test.ts', title: 'nothing counts' },
  },
  {
    row: given,
    removes: 'the reading of the content of the pipes at the end',
    file: 'packages/kernel/sandbox/src/run/read-output.ts',
    text: 'fd < 0 ? 0 : readNow(fd, rest)',
    by: '0',
    test: { file: 'packages/kernel/sandbox/test/run/run.test.ts', title: 'is read whole at the end' },
  },
  {
    row: old,
    removes: 'the identity of directories',
    file: 'packages/executors/bubblewrap/src/warm/key.ts',
    text: '      source !== undefined && sources.identity(source),\n',
    test: { file: supervisor, title: 'took the place of the root' },
  },
  {
    row: old,
    removes: 'the end of a supervisor whose mounts are gone',
    file: start,
    text: 'if (split.top === undefined) pool.retire(supervisor)',
    test: { file: supervisor, title: 'removed from outside' },
  },
  {
    row: rights,
    removes: 'the drop of rights in the command',
    file: spare,
    text: 'confine();\n  my $cwd',
    by: 'my $cwd',
    test: { file: 'packages/executors/bubblewrap/test/escape.test.ts', title: 'are closed' },
  },
  {
    row: rights,
    removes: 'the comparison of the mounts with the plan',
    file: start,
    text: '    if (!checkMounts(() => check?.(spare.child))) return giveUp()\n',
    test: { file: 'packages/executors/bubblewrap/test/mount-check.isolated.test.ts' },
  },
  {
    row: rights,
    removes: 'the seal of a closed directory before the tree is copied to an alias',
    file: 'packages/executors/bubblewrap/src/warm/tree.pl',
    text: "$seal->(); bind_('again'",
    by: "bind_('again'",
    test: { file: 'packages/executors/bubblewrap/test/direct.test.ts', title: 'below each alias' },
  },
  {
    row: unlisted,
    removes: 'the doubt about a warm command whose tracer said no status',
    file: 'packages/executors/bubblewrap/src/warm/supervisor.pl',
    text: 'my ($status) = $got == 0 ? $said =~ /^(\\d+)\\n/ : ();',
    by: 'my $status = $got & 127;',
    test: { file: supervisor, title: 'the tracer of a command is killed' },
  },
  {
    row: kept,
    removes: 'the look at names that are kept',
    file: 'packages/executors/bubblewrap/src/view/kept-names.ts',
    text: 'if (!isThere) await this.#drop(key)',
    by: 'if (!isThere) continue',
    test: { file: 'packages/executors/bubblewrap/test/kept-names.test.ts', title: 'has removed one' },
  },
]
