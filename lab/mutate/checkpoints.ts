import type { Change, Mutation } from './types.ts'

const visible = 'packages/kernel/core/src/checkpoints/visible.ts'
const root = 'packages/kernel/tree/src/disk/root.ts'
const acts = 'packages/kernel/tree/src/disk/restore/acts.ts'
const policyTest = 'packages/agents/snapshots/test/policy.test.ts'
const failuresTest = 'packages/agents/snapshots/test/failures.test.ts'
const actsTest = 'packages/kernel/tree/test/acts.test.ts'
const killedTest = 'packages/agents/snapshots/test/killed-restore.test.ts'
const storesTest = 'packages/agents/snapshots/test/stores.test.ts'
const unknownTest = 'packages/agents/snapshots/test/unknown.test.ts'

/** Scans, restores and pulls open directories without following, and see them to be in their place. */
export const followsLinks: readonly Change[] = [
  {
    file: root,
    text: 'const directoryFlags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW',
    by: 'const directoryFlags = O_PATH | constants.O_DIRECTORY',
  },
  {
    file: root,
    text: '    return readlinkSync(selfOf(fd)) === this.placeOf(path)',
    by: '    return this.placeOf(path) !== readlinkSync(selfOf(fd)) || true',
  },
  {
    file: root,
    text: 'if (fstatSync(below).dev !== this.device || mountOf(below) !== this.#mount || !this.isAt(below, next)) {',
    by: 'if (!this.isAt(below, next)) {',
  },
]

/** Earlier states of files. */
export const checkpointMutations: readonly Mutation[] = [
  {
    row: 'old bytes of a denied entry, in changes, diffs and restores',
    removes: 'the question to the rules',
    changes: [
      {
        file: visible,
        text: "if (gate.decide({ operation, path: virtual, need: 'read' }).effect === 'deny') return undefined",
        by: "if (gate.decide({ operation, path: virtual, need: 'read' }).effect === 'deny') continue",
      },
      {
        file: visible,
        text: "view.visibility(virtual) === 'described' ? virtual : undefined",
        by: "view.visibility(virtual) !== 'hidden' ? virtual : undefined",
      },
    ],
    test: { file: policyTest, title: 'write-only' },
  },
  {
    row: 'a restore into a read-only part',
    removes: 'the question about writing',
    file: 'packages/kernel/core/src/checkpoints/door.ts',
    text: "if (decision.effect === 'allow') restorable.push(difference)",
    by: 'if (decision.effect !== undefined) restorable.push(difference)',
    test: { file: policyTest, title: 'read-only parts' },
  },
  {
    row: 'a directory exchanged for a link during a checkpoint or a restore',
    removes: 'opening without following, and the look at the place',
    changes: followsLinks,
    test: { file: 'packages/agents/snapshots/test/writers.test.ts', title: 'HO1' },
  },
  {
    row: "another writer's work that a restore would overwrite or remove",
    removes: 'the comparison with the last scan',
    file: acts,
    text: '  if (!isSame) throw new Unexpected(changedMeanwhile)',
    by: '  if (!isSame) return',
    test: { file: actsTest, title: 'UN3' },
  },
  {
    row: 'bytes of another time that run with the rights of another user',
    removes: 'the mask of bits',
    file: 'packages/kernel/tree/src/disk/restore/marks.ts',
    text: 'mode & 0o1777',
    by: 'mode & 0o7777',
    test: { file: actsTest, title: 'no setuid' },
  },
  {
    row: 'an access list that a restore drops, which opens a file to a group that was denied',
    removes: 'the attributes of what is restored',
    file: 'packages/kernel/tree/src/disk/attributes.ts',
    text: "  if (attributes === undefined || attributes === '') return\n",
    by: "  if (attributes === undefined || attributes !== '') return\n",
    test: { file: 'packages/agents/snapshots/test/attributes.test.ts', title: 'come back' },
  },
  {
    row: 'an access list that a restore drops, which opens a file to a group that was denied',
    removes: 'the refusal of links on the way',
    file: 'packages/kernel/tree/src/disk/attributes-read.pl',
    text: "my $how = pack 'QQQ', $flags, 0, 0x0f;",
    by: "my $how = pack 'QQQ', $flags, 0, 0;",
    test: { file: 'packages/agents/snapshots/test/attributes.test.ts', title: 'through a link' },
  },
  {
    row: 'an access list that a restore drops, which opens a file to a group that was denied',
    removes: 'the end of a restore without its list',
    file: 'packages/kernel/tree/src/disk/attributes.ts',
    text: "  if (status !== 0) throw new Unexpected('its access list or attributes cannot be restored')\n",
    by: "  if (status === null) throw new Unexpected('its access list or attributes cannot be restored')\n",
    test: { file: 'packages/agents/snapshots/test/attributes.test.ts', title: 'cannot be given back' },
  },
  {
    row: 'a directory that a killed restore leaves open',
    removes: 'the look at the journal',
    file: 'packages/agents/snapshots/src/worker/service.ts',
    text: '      tightenAgain(tree, database)\n',
    test: { file: killedTest, title: 'UN6' },
  },
  {
    row: 'saved bytes that were damaged',
    removes: 'the look at all bytes before',
    file: 'packages/agents/snapshots/src/disk/restore/restore.ts',
    text: '    for (const content of plan.contents) this.#tree.read(content)\n',
    test: { file: failuresTest, title: 'damaged' },
  },
  {
    row: 'saved bytes that a command could read or change',
    removes: 'the comparison with the mounts',
    file: 'packages/agents/snapshots/src/outside.ts',
    text: '  if (at === undefined) return\n',
    by: "  if (at?.startsWith('//') !== true) return\n",
    test: { file: failuresTest, title: 'commands could reach it' },
  },
  {
    row: 'two processes that write one state directory',
    removes: 'the lock that lasts',
    file: 'packages/kernel/tree/src/store/database.ts',
    text: 'PRAGMA locking_mode = EXCLUSIVE; ',
    test: { file: failuresTest, title: 'one process at a time' },
  },
  {
    row: 'checkpoints that fill the disk',
    removes: 'the cap of bytes',
    changes: [
      {
        file: 'packages/agents/snapshots/src/disk/tree.ts',
        text: '        this.#packs.flush()\n        if (this.#packs.size - mark.size > room) throw tooMuch()\n',
        by: '        this.#packs.flush()\n',
      },
      {
        file: 'packages/agents/snapshots/src/disk/tree.ts',
        text: '      if (this.#packs.size - mark.size > room) throw tooMuch()\n      return content',
        by: '      return content',
      },
    ],
    test: { file: failuresTest, title: 'UN5' },
  },
  {
    row: "another writer's work in a bucket that a restore would overwrite",
    removes: 'the condition of the write',
    file: 'packages/agents/snapshots/src/journal/restore.ts',
    text: "{ ifVersion: now?.version ?? 'absent', mode: before.mode }",
    by: '{ mode: before.mode }',
    test: { file: storesTest, title: 'another writer' },
  },
  {
    row: 'a change of a bucket whose earlier state could not be kept',
    removes: 'the refusal',
    file: 'packages/agents/snapshots/src/journal/journal.ts',
    text: '      await this.keepBefore(call)\n',
    by: '      await this.keepBefore(call).catch(() => undefined)\n',
    test: { file: storesTest, title: 'no room' },
  },
  {
    row: 'saved bytes that were damaged',
    removes: 'the look at all bytes before a bucket is touched',
    file: 'packages/agents/snapshots/src/journal/restore.ts',
    text: '  await before?.bytes?.()\n',
    test: { file: storesTest, title: 'damaged' },
  },
  {
    row: 'an entry that was hidden at a checkpoint, which a restore would delete',
    removes: 'the entries that were unknown then',
    file: 'packages/agents/snapshots/src/disk/tree.ts',
    text: 'const unknown = [this.#unknownAt(since), this.#unknownAt(until)]',
    by: 'const unknown = [this.#unknownAt(-1), this.#unknownAt(-1)]',
    test: { file: unknownTest, title: 'what was mounted over then' },
  },
  {
    row: 'a lease on a file, on which each look would wait or fail',
    removes: 'the look that goes on without the file',
    file: 'packages/kernel/tree/src/disk/content.ts',
    text: '    if (isOfOneEntry(error)) return undefined\n    throw error\n  }\n  const status',
    by: '    throw error\n  }\n  const status',
    test: { file: unknownTest, title: 'a lease of another program' },
  },
  {
    row: 'a tree so deep that a look takes all descriptors',
    removes: 'the end of the descriptors of higher directories',
    file: 'packages/kernel/tree/src/disk/walk.ts',
    text: '      close(levels.at(-1 - mostOpen))\n',
    test: { file: unknownTest, title: 'a walk of 1,500 levels' },
  },
  {
    row: 'a tree so deep that a look takes all descriptors',
    removes: 'the longest path',
    file: 'packages/kernel/tree/src/disk/root.ts',
    text: 'return Buffer.byteLength(this.placeOf(path)) > longestPath',
    by: 'return Buffer.byteLength(this.placeOf(path)) < 0',
    test: { file: unknownTest, title: 'a tree that is deeper' },
  },
]
