import { followsLinks } from './checkpoints.ts'
import type { Mutation } from './types.ts'

const sync = 'packages/adapters/replica/src/sync'
const machines = 'packages/adapters/replica/test/machines.test.ts'
const large = 'packages/adapters/replica/test/large.test.ts'
const pieces = `${sync}/pieces.ts`
const refusals = 'packages/adapters/replica/test/refusals.test.ts'
const storeTest = 'packages/adapters/replica/test/s3.test.ts'
const unknown = 'packages/adapters/replica/test/unknown.test.ts'

/** Copies of a store. */
export const replicaMutations: readonly Mutation[] = [
  {
    row: 'a directory of a replica exchanged for a link while changes come and go',
    removes: 'opening without following, and the look at the place',
    changes: followsLinks,
    test: { file: 'packages/adapters/replica/test/links.test.ts', title: 'HO1' },
  },
  {
    row: "another writer's version that a push would replace",
    removes: 'the condition of the write',
    file: `${sync}/push.ts`,
    text: 'store.write(path, data, { ifVersion, listed, parents: true, mode, modifiedAt, signal })',
    by: 'store.write(path, data, { ifVersion: undefined && ifVersion, listed, parents: true, mode, modifiedAt, signal })',
    test: { file: machines, title: 'a file that both changed' },
  },
  {
    row: 'a file that a program changes while its pieces go to the store',
    removes: 'the look at the file after its last piece',
    file: pieces,
    text: 'if (piece.isWhole) return',
    by: 'if (!isTorn) return',
    test: { file: large, title: 'that changes while it is uploaded' },
  },
  {
    row: 'a new file that a program exchanges while its pieces come from the store',
    removes: 'the look at what bears the name in the end',
    file: 'packages/adapters/replica/src/worker/pieces.ts',
    text: 'if (own.ino !== there.ino || own.dev !== there.dev) throw new Unexpected(changedMeanwhile)',
    by: 'if (own.dev !== there.dev) throw new Unexpected(changedMeanwhile)',
    test: { file: large, title: 'cannot be exchanged' },
  },
  {
    row: 'a change on the disk that a pull would replace',
    removes: 'the other name for the version of this machine',
    file: `${sync}/pull.ts`,
    text: "  if ((await keepOurs(site, path, facts.type === type ? 'content' : 'type', word)) !== 'done') return 'changed'\n  return bring()",
    by: "  if (facts.type === 'directory' && (await keepOurs(site, path, 'type', word)) !== 'done') return 'changed'\n  return bring()",
    test: { file: machines, title: 'another program made on the disk' },
  },
  {
    row: 'a pack of small files that is forged, stale, cut off or too large',
    removes: 'the comparison of the bytes with the version of the object',
    file: `${sync}/packs.ts`,
    text: "if (hash('md5', file.bytes) !== now.version) return []",
    by: "if (hash('md5', file.bytes) === '') return []",
    test: { file: 'packages/adapters/replica/test/packs.test.ts', title: 'with other bytes' },
  },
  {
    row: 'a deletion that meets a file made meanwhile, in a store that ignores conditions on it',
    removes: 'the condition of the tombstone',
    file: `${sync}/tombstones.ts`,
    text: 'ifVersion: version,\n        listed: true,\n        signal: within,',
    by: 'ifVersion: undefined && version,\n        listed: true,\n        signal: within,',
    test: { file: 'packages/adapters/replica/test/tombstones.test.ts', title: 'a deletion that meets an edit' },
  },
  {
    row: 'a store whose listing leaves files out, to have them deleted here',
    removes: 'the question to the store',
    file: `${sync}/pull.ts`,
    text: "if (!certain && !(await isGone(store, path, options))) return 'differs'",
    by: "if (!certain && (await isGone(store, path, options)) === undefined) return 'differs'",
    test: { file: refusals, title: 'a listing that lies' },
  },
  {
    row: 'a directory of another store, or with other files, which would be mixed up',
    removes: 'the comparison of the names of the stores',
    file: 'packages/adapters/replica/src/create.ts',
    text: ' : known !== store.identity)',
    by: ' : known === undefined)',
    test: { file: refusals, title: 'whose stores have names' },
  },
  {
    row: 'an entry that cannot be looked at, whose object a push would delete',
    removes: 'the look at the mounts',
    file: 'packages/kernel/tree/src/disk/scan.ts',
    text: '    if (this.#mounts.has(path)) return this.#left.leave(path, mounted)\n',
    test: { file: unknown, title: 'what the host mounts over' },
  },
  {
    row: 'an entry that cannot be looked at, whose object a push would delete',
    removes: 'names as bytes',
    file: 'packages/kernel/tree/src/disk/names.ts',
    text: 'if (isUtf8(name) && !',
    by: 'if (!text.includes(replacement) && !',
    test: { file: unknown, title: 'are names as others' },
  },
  {
    row: 'an entry that cannot be looked at, whose object a push would delete',
    removes: 'the identity of the whole directory',
    file: 'packages/adapters/replica/src/worker/service.ts',
    text: "if ((this.#seen.get('/')?.ino ?? ino) === ino) return",
    by: "if (ino !== '') return",
    test: { file: unknown, title: 'whose directory is another' },
  },
  {
    row: 'a file that is moved to where it cannot be saved',
    removes: 'the look at the inodes of such places',
    file: 'packages/adapters/replica/src/worker/service.ts',
    text: 'keepMoved: true',
    by: 'keepMoved: false',
    test: { file: unknown, title: 'what is moved to a name' },
  },
  {
    row: 'a file that is moved to where it cannot be saved',
    removes: 'the wait for the new name',
    file: `${sync}/send.ts`,
    text: ' && !isKept(path) &&',
    by: ' && (!isKept(path) || true) &&',
    test: { file: unknown, title: 'the old name of a file goes' },
  },
  {
    row: 'a file that is moved to where it cannot be saved',
    removes: 'the order of a push',
    changes: [
      {
        file: `${sync}/order.ts`,
        text: 'const early = present.filter((path) => !isLate(path))',
        by: 'const early = present.filter((path) => !isLate(path) && present.length < 0)',
      },
      { file: `${sync}/order.ts`, text: 'const late = present.filter(isLate)', by: 'const late = present' },
    ],
    test: { file: unknown, title: 'out of the way of another' },
  },
  {
    row: 'a directory that a command replaces by a file or a link, in a store whose directories follow from their files',
    removes: 'the look at what has its name',
    file: `${sync}/push.ts`,
    text: "above?.type === 'directory' &&",
    by: 'above !== undefined &&',
    test: { file: storeTest, title: 'loses nothing' },
  },
  {
    row: 'a name that the store cannot keep, at which every command would stop',
    removes: 'the command that goes on without it',
    file: `${sync}/alone.ts`,
    text: 'if (!refusalCodes.has(known.code)) throw notYet(path, known)',
    by: 'throw refusalCodes.has(known.code) ? known : notYet(path, known)',
    test: { file: storeTest, title: 'a file whose name' },
  },
  {
    row: 'an object that this machine cannot hold, at which every command would stop',
    removes: 'the command that goes on without it',
    file: `${sync}/alone.ts`,
    text: 'if (await isAway(site, known)) throw known',
    by: 'throw known',
    test: { file: 'packages/adapters/replica/test/entries.test.ts', title: 'half of its objects' },
  },
  {
    row: 'a file with the bytes of a tombstone, which other machines would take for a deletion',
    removes: 'the look at the bytes before they are sent',
    file: `${sync}/push.ts`,
    text: 'tombstones.ownerOf(bytes) !== undefined)',
    by: 'tombstones.ownerOf(bytes) === undefined && bytes === undefined)',
    test: { file: unknown, title: 'the bytes of a deletion mark' },
  },
]
