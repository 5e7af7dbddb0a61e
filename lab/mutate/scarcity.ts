import type { Mutation } from './types.ts'

const descriptors = 'lab/tests-commands/test/scarcity/scarcity.test.ts'
const noDescriptors =
  'too many open files, at which Node would leave descriptors open, reject where nobody listens and end the host'

const places = 'packages/kernel/sandbox/src/reserve/places.pl'
const withoutDescriptors =
  'a keeper without descriptors, which would take the names that another one holds, or watch nothing and say nothing'

export const scarcityMutations: readonly Mutation[] = [
  {
    row: noDescriptors,
    removes: 'the look for room before a process is started',
    file: 'packages/kernel/sandbox/src/run/spawn.ts',
    text: '  requireDescriptors(2 * pipes + stdio.length + ownDescriptors)\n',
    test: { file: descriptors, title: 'in commands and sessions' },
  },
  {
    row: noDescriptors,
    removes: 'the words for a shortage',
    file: 'packages/kernel/core/src/shortage.ts',
    text: '  return isMeant ? shortageNamed(code) : undefined',
    by: '  return isMeant && code === undefined ? shortageNamed(code) : undefined',
    test: { file: descriptors, title: 'at the file API' },
  },
  {
    row: 'a shortage at the moment of a probe, after which a weaker boundary would be used for good',
    removes: 'the rejection of a probe that meets a shortage',
    file: 'packages/kernel/sandbox/src/executor/define-executor.ts',
    text: '    if (shortage !== undefined) throw untried(shortage, error)\n',
    test: { file: descriptors, title: 'in commands and sessions' },
  },
  {
    row: 'too few processes, at which a library ends the host, a search waits for ever for a thread, and a command that was not started looks like one that was killed',
    removes: 'the word of the first process',
    file: 'packages/executors/bubblewrap/src/processes/first-process.ts',
    text: `  "trap 'echo none >&8' EXIT",\n`,
    test: {
      file: 'packages/executors/bubblewrap/test/shortage.isolated.test.ts',
      title: 'says that there is no process',
    },
  },
  {
    row: 'too few processes, at which a library ends the host, a search waits for ever for a thread, and a command that was not started looks like one that was killed',
    removes: 'the processes that are asked for beyond those of a terminal, since running commands take some meanwhile',
    file: 'packages/kernel/sandbox/src/run/room.ts',
    text: 'repeat(needed + slack - 1)',
    by: 'repeat(needed - 1)',
    test: { file: 'packages/kernel/sandbox/test/run/room.test.ts' },
  },
  {
    row: 'too few processes, at which a library ends the host, a search waits for ever for a thread, and a command that was not started looks like one that was killed',
    removes: 'the wait for the processes that the look for room started, where it failed',
    file: 'packages/kernel/sandbox/src/run/room.ts',
    text: 'trap wait EXIT; ',
    test: { file: 'packages/kernel/sandbox/test/run/room.test.ts' },
  },
  {
    row: 'a shortage at the moment of a probe, after which a weaker boundary would be used for good',
    removes: 'the error of the system in the answer of the keeper',
    file: 'packages/kernel/sandbox/src/reserve/entries.pl',
    text: '(grep { $e == $_ } 12, 23, 24, 28, 122) ? "short $e" : $answer',
    by: '$answer',
    test: { file: 'packages/executors/bubblewrap/test/shortage.isolated.test.ts' },
  },
  {
    row: withoutDescriptors,
    removes: 'the stop at a list that cannot be read',
    file: places,
    text: 'my $error = $unread ? $unread : @others',
    by: 'my $error = @others',
    test: { file: 'packages/kernel/sandbox/test/reserve/shortage.test.ts', title: 'takes no name from another keeper' },
  },
  {
    row: withoutDescriptors,
    removes: 'the word that a process cannot be watched',
    file: 'packages/kernel/sandbox/src/reserve/watch.pl',
    text: "return $! == 3 ? say_('ended', $id) : say_('lost', $id)",
    by: "return say_('ended', $id)",
    test: { file: 'packages/kernel/sandbox/test/reserve/shortage.test.ts', title: 'watches no process' },
  },
]
