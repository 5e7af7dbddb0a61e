import type { Mutations } from '../types.ts'

export const replicaMutations: Mutations = {
  'a directory of a replica exchanged for a link while changes come and go': [
    {
      removes: 'opening without following, and the look at the place',
      changes: [
        {
          text: 'const directoryFlags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW',
          by: 'const directoryFlags = O_PATH | constants.O_DIRECTORY',
        },
        {
          text: '    return readlinkSync(selfOf(fd)) === this.placeOf(path)',
          by: '    return this.placeOf(path) !== readlinkSync(selfOf(fd)) || true',
        },
        {
          text: 'if (fstatSync(below).dev !== this.device || mountOf(below) !== this.#mount || !this.isAt(below, next)) {',
          by: 'if (!this.isAt(below, next)) {',
        },
      ],
      title: 'HO1',
    },
  ],
  "another writer's version that a push would replace": [
    {
      removes: 'the condition of the write',
      text: 'store.write(path, data, { ifVersion, listed, parents: true, mode, modifiedAt, signal })',
      by: 'store.write(path, data, { ifVersion: undefined && ifVersion, listed, parents: true, mode, modifiedAt, signal })',
      title: 'a file that both changed',
    },
  ],
  'a file that a program changes while its pieces go to the store': [
    {
      removes: 'the look at the file after its last piece',
      text: 'if (piece.isWhole) return',
      by: 'if (!isTorn) return',
      title: 'that changes while it is uploaded',
    },
  ],
  'a new file that a program exchanges while its pieces come from the store': [
    {
      removes: 'the look at what bears the name in the end',
      text: 'if (own.ino !== there.ino || own.dev !== there.dev) throw new Unexpected()',
      by: 'if (own.dev !== there.dev) throw new Unexpected()',
      title: 'cannot be exchanged',
    },
  ],
  'a change on the disk that a pull would replace': [
    {
      removes: 'the other name for the version of this machine',
      text: "  if ((await keepOurs(site, path, facts.type === type ? 'content' : 'type', word)) !== 'done') return 'changed'\n  return bring()",
      by: "  if (facts.type === 'directory' && (await keepOurs(site, path, 'type', word)) !== 'done') return 'changed'\n  return bring()",
      title: 'another program made on the disk',
    },
  ],
  'a deletion that meets a file made meanwhile, in a store that ignores conditions on it': [
    {
      removes: 'the condition of the tombstone',
      text: 'ifVersion: version,\n        listed: true,\n        signal: within,',
      by: 'ifVersion: undefined && version,\n        listed: true,\n        signal: within,',
      title: 'a deletion that meets an edit',
    },
  ],
  'a directory of another store, or with other files, which would be mixed up': [
    {
      removes: 'the comparison of the names of the stores',
      text: ' : known !== store.identity)',
      by: ' : known === undefined)',
      title: 'whose stores have names',
    },
  ],
  'an entry that cannot be looked at, whose object a push would delete': [
    {
      removes: 'names as bytes',
      file: 'packages/kernel/tree/src/disk/names.ts',
      text: 'if (isUtf8(name) && !',
      by: 'if (!text.includes(replacement) && !',
      title: 'are names as others',
    },
    {
      removes: 'the identity of the whole directory',
      text: "if ((this.#seen.get('/')?.ino ?? ino) === ino) return",
      by: "if (ino !== '') return",
      title: 'whose directory is another',
    },
  ],
  'a file that is moved to where it cannot be saved': [
    {
      removes: 'the look at the inodes of such places',
      file: 'packages/adapters/replica/src/worker/service.ts',
      text: 'keepMoved: true',
      by: 'keepMoved: false',
      title: 'what is moved to a name',
    },
    {
      removes: 'the order of a push',
      changes: [
        {
          file: 'packages/adapters/replica/src/sync/order.ts',
          text: 'const early = present.filter((path) => !isLate(path))',
          by: 'const early = present.filter((path) => !isLate(path) && present.length < 0)',
        },
        {
          file: 'packages/adapters/replica/src/sync/order.ts',
          text: 'const late = present.filter(isLate)',
          by: 'const late = present',
        },
      ],
      title: 'out of the way of another',
    },
  ],
  'a directory that a command replaces by a file or a link, in a store whose directories follow from their files': [
    {
      removes: 'the look at what has its name',
      text: "above?.type === 'directory' &&",
      by: 'above !== undefined &&',
      title: 'loses nothing',
    },
  ],
  'a name that the store cannot keep, at which every command would stop': [
    {
      removes: 'the command that goes on without it',
      text: 'if (!refusalCodes.has(known.code)) throw notYet(path, known)',
      by: 'throw refusalCodes.has(known.code) ? known : notYet(path, known)',
      test: 'packages/adapters/replica/test/s3.test.ts',
      title: 'a file whose name',
    },
  ],
  'a file with the bytes of a tombstone, which other machines would take for a deletion': [
    {
      removes: 'the look at the bytes before they are sent',
      text: 'tombstones.ownerOf(bytes) !== undefined)',
      by: 'tombstones.ownerOf(bytes) === undefined && bytes === undefined)',
      title: 'the bytes of a deletion mark',
    },
  ],
}
