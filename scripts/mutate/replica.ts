import { followsLinks } from './checkpoints.ts'
import type { Mutation } from './types.ts'

const sync = 'packages/adapter-replica/src/sync'
const machines = 'packages/adapter-replica/test/machines.test.ts'
const large = 'packages/adapter-replica/test/large.test.ts'
const pieces = `${sync}/pieces.ts`
const refusals = 'packages/adapter-replica/test/refusals.test.ts'

/** Copies of a store. */
export const replicaMutations: readonly Mutation[] = [
  {
    row: 'a directory of a replica exchanged for a link while changes come and go',
    removes: 'opening without following, and the look at the place',
    changes: followsLinks,
    test: { file: 'packages/adapter-replica/test/links.test.ts', title: 'HO1' },
  },
  {
    row: "another writer's version that a push would replace",
    removes: 'the condition of the write',
    changes: [
      {
        file: `${sync}/push.ts`,
        text: 'store.write(path, data, { ifVersion, listed, parents: true, mode, signal })',
        by: 'store.write(path, data, { ifVersion: undefined && ifVersion, listed, parents: true, mode, signal })',
      },
    ],
    test: { file: machines, title: 'a file that both changed' },
  },
  {
    row: 'a file that a program changes while its pieces go to the store',
    removes: 'the look at the file after its last piece',
    changes: [{ file: pieces, text: 'if (piece.isWhole) return', by: 'if (!isTorn) return' }],
    test: { file: large, title: 'that changes while it is uploaded' },
  },
  {
    row: 'a new file that a program exchanges while its pieces come from the store',
    removes: 'the look at what bears the name in the end',
    changes: [
      {
        file: 'packages/adapter-replica/src/worker/pieces.ts',
        text: 'if (own.ino !== there.ino || own.dev !== there.dev) throw new Unexpected(changedMeanwhile)',
        by: 'if (own.dev !== there.dev) throw new Unexpected(changedMeanwhile)',
      },
    ],
    test: { file: large, title: 'cannot be exchanged' },
  },
  {
    row: 'a change on the disk that a pull would replace',
    removes: 'the other name for the version of this machine',
    changes: [
      {
        file: `${sync}/pull.ts`,
        text: "  if ((await keepOurs(site, path, facts.type === type ? 'content' : 'type')) !== 'done') return 'changed'\n  return bring()",
        by: "  if (facts.type === 'directory' && (await keepOurs(site, path, 'type')) !== 'done') return 'changed'\n  return bring()",
      },
    ],
    test: { file: machines, title: 'another program made on the disk' },
  },
  {
    row: 'a deletion that meets a file made meanwhile, in a store that ignores conditions on it',
    removes: 'the condition of the tombstone',
    changes: [
      {
        file: `${sync}/tombstones.ts`,
        text: 'await store.write(path, bytes, { ifVersion: version, listed: true, signal })',
        by: 'await store.write(path, bytes, { ifVersion: undefined && version, listed: true, signal })',
      },
    ],
    test: { file: 'packages/adapter-replica/test/tombstones.test.ts', title: 'a deletion that meets an edit' },
  },
  {
    row: 'a store whose listing leaves files out, to have them deleted here',
    removes: 'the question to the store',
    changes: [
      {
        file: `${sync}/pull.ts`,
        text: "if (!certain && !(await isGone(store, path, options))) return 'differs'",
        by: "if (!certain && (await isGone(store, path, options)) === undefined) return 'differs'",
      },
    ],
    test: { file: refusals, title: 'a listing that lies' },
  },
  {
    row: 'a directory of another store, or with other files, which would be mixed up',
    removes: 'the comparison of the names of the stores',
    changes: [
      {
        file: 'packages/adapter-replica/src/create.ts',
        text: 'const isOther = !isNew && !unidentified && known !== store.identity',
        by: 'const isOther = isNew && !unidentified && known !== store.identity',
      },
    ],
    test: { file: refusals, title: 'whose stores have names' },
  },
]
