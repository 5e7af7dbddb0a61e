import type { Mutation } from './types.ts'

const descriptors = 'apps/tests-commands/test/scarcity/scarcity.test.ts'
const noDescriptors =
  'too many open files, at which Node would leave descriptors open, reject where nobody listens and end the host'

/** Scarcity. */
export const scarcityMutations: readonly Mutation[] = [
  {
    row: noDescriptors,
    removes: 'the look for room before a process is started',
    changes: [
      {
        file: 'packages/process/src/run/spawn.ts',
        text: '  requireDescriptors(2 * pipes + stdio.length + ownDescriptors)\n',
        by: '',
      },
    ],
    test: { file: descriptors, title: 'in commands and sessions' },
  },
  {
    row: noDescriptors,
    removes: 'the words for a shortage',
    changes: [
      {
        file: 'packages/core/src/shortage.ts',
        text: '  return isMeant ? shortageNamed(code) : undefined',
        by: '  return isMeant && code === undefined ? shortageNamed(code) : undefined',
      },
    ],
    test: { file: descriptors, title: 'at the file API' },
  },
  {
    row: 'a shortage at the moment of a probe, after which a weaker boundary would be used for good',
    removes: 'the rejection of a probe that meets a shortage',
    changes: [
      {
        file: 'packages/sandbox/src/executor/confined.ts',
        text: '    if (shortage !== undefined) throw untried(shortage, error)\n',
        by: '',
      },
    ],
    test: { file: descriptors, title: 'in commands and sessions' },
  },
]
