import type { Mutations } from '../types.ts'

export const scarcityMutations: Mutations = {
  'too many open files, at which Node would leave descriptors open, reject where nobody listens and end the host': [
    {
      removes: 'the words for a shortage',
      text: '  return isMeant ? shortageNamed(code) : undefined',
      by: '  return isMeant && code === undefined ? shortageNamed(code) : undefined',
      title: 'at the file API',
    },
  ],
  'a shortage at the moment of a probe, after which a weaker boundary would be used for good': [
    {
      removes: 'the error of the system in the answer of the keeper',
      text: '(grep { $e == $_ } 12, 23, 24, 28, 122) ? "short $e" : $answer',
      by: '$answer',
      test: 'packages/executors/bubblewrap/test/shortage.isolated.test.ts',
    },
  ],
  'too few processes, at which a library ends the host, a search waits for ever for a thread, and a command that was not started looks like one that was killed':
    [
      {
        removes: 'the wait for the processes that the look for room started, where it failed',
        text: 'trap wait EXIT; ',
        test: 'packages/kernel/sandbox/test/run/room.test.ts',
      },
    ],
  'a keeper without descriptors, which would take the names that another one holds, or watch nothing and say nothing': [
    {
      removes: 'the word that a process cannot be watched',
      text: "return $! == 3 ? say_('ended', $id) : say_('lost', $id)",
      by: "return say_('ended', $id)",
      title: 'watches no process',
    },
  ],
}
