import type { Mutations } from '../types.ts'

export const checkpointMutations: Mutations = {
  'old bytes of a denied entry, in changes, diffs and restores': [
    {
      removes: 'the question to the rules',
      changes: [
        {
          text: "if (gate.decide({ operation, path: virtual, need: 'read' }).effect === 'deny') return undefined",
          by: "if (gate.decide({ operation, path: virtual, need: 'read' }).effect === 'deny') continue",
        },
        {
          text: "view.visibility(virtual) === 'described' ? virtual : undefined",
          by: "view.visibility(virtual) !== 'hidden' ? virtual : undefined",
        },
      ],
      title: 'write-only',
    },
  ],
  'a restore into a read-only part': [
    {
      removes: 'the question about writing',
      text: "if (decision.effect === 'allow') restorable.push(difference)",
      by: 'if (decision.effect !== undefined) restorable.push(difference)',
      title: 'read-only parts',
    },
  ],
  'a merge that shows what the rules deny, or writes where they forbid it': [
    {
      removes: 'the question to the rules of this workspace',
      text: 'const virtual = sights.pathOf(difference)',
      by: 'const virtual = forks.pathOf(difference)',
      title: 'follows the rules',
    },
    {
      removes: 'the question about writing',
      text: "if (decision.effect !== 'allow') kept.set",
      by: 'if (decision.effect === undefined) kept.set',
      title: 'follows the rules',
    },
  ],
  'work of this workspace that a merge would overwrite': [
    {
      removes: 'the comparison with the shared checkpoint',
      text: "if (now !== was || was !== before) return 'changed'",
      by: "if (was !== before) return 'changed'",
      title: 'changes alone',
    },
    {
      removes: 'the look at the copied state',
      text: "if (now !== was || was !== before) return 'changed'",
      by: "if (now !== was) return 'changed'",
      title: 'caught another state',
    },
    {
      removes: 'the look at a path in memory before it is written',
      text: '  if (!isExpected) return changed\n',
      title: 'an edit during a merge',
    },
    {
      removes: 'the looks at a file before and after it is replaced',
      changes: [
        { text: '  if (!isSame) throw new Unexpected()' },
        {
          text: '  if (status === undefined || !isEntry(held, status, seen) || !isUnwritten(status, seen)) throw new Unexpected()',
        },
      ],
      title: 'an edit during a merge',
    },
  ],
  'a directory exchanged for a link during a checkpoint or a restore': [
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
  'bytes of another time that run with the rights of another user': [
    { removes: 'the mask of bits', text: 'mode & 0o1777', by: 'mode & 0o7777', title: 'no setuid' },
  ],
  'an access list that a restore drops, which opens a file to a group that was denied': [
    {
      removes: 'the refusal of links on the way',
      text: "my $how = pack 'QQQ', $flags, 0, 0x0f;",
      by: "my $how = pack 'QQQ', $flags, 0, 0;",
      title: 'through a link',
    },
  ],
  'checkpoints that fill the disk': [
    {
      removes: 'the cap of bytes',
      changes: [
        {
          text: '        this.#packs.flush()\n        if (this.#packs.size - mark.size > room) throw tooMuch()\n',
          by: '        this.#packs.flush()\n',
        },
        {
          text: '      if (this.#packs.size - mark.size > room) throw tooMuch()\n      return content',
          by: '      return content',
        },
      ],
      title: 'UN5',
    },
  ],
  'a change of a bucket whose earlier state could not be kept': [
    {
      removes: 'the refusal',
      text: '      await this.keepBefore(call)\n',
      by: '      await this.keepBefore(call).catch(() => undefined)\n',
      title: 'no room',
    },
  ],
  'an entry that was hidden at a checkpoint, which a restore would delete': [
    {
      removes: 'the entries that were unknown then',
      text: 'const unknown = [this.#unknownAt(since), this.#unknownAt(until)]',
      by: 'const unknown = [this.#unknownAt(-1), this.#unknownAt(-1)]',
      title: 'what was mounted over then',
    },
  ],
  'a file or a host of a rule that asks: without a grant, in another spelling, by its address': [
    {
      removes: 'the denial of a rule that asks',
      text: 'const { rule, rights } = pattern\n  if ((rights',
      by: 'const { rule, rights } = pattern\n  if (rule.asks === true || (rights',
      file: 'packages/kernel/core/src/policy/declared-rules.ts',
      test: 'packages/agents/tools/test/grants.test.ts',
      title: 'denies at both doors',
    },
  ],
  'a grant that opens more than its place: another match, a match below, another rule, another call, a command beside it':
    [
      {
        removes: 'the comparison of the match',
        text: 'this.#granted.has(path)',
        by: 'this.#granted.size > 0',
        test: 'packages/agents/tools/test/grants.test.ts',
        title: 'the granted path alone',
      },
      {
        removes: 'the matches below a granted match',
        text: 'const match = this.#matchIn(above, path, name, false)',
        by: "const match = this.#matchIn(above, path, name, false)\n    if (this.#granted.has(path)) return { ...above, below: 'skipped' }",
        test: 'packages/agents/tools/test/grants.test.ts',
        title: 'grants a directory',
      },
    ],
  'a call that was taken back, and leaves a file, a journal entry, a version, the state of a shell or a command': [
    {
      removes: 'the drop',
      text: 'return dropped(attempt, await attempt.drop(), { decision, call })',
      by: 'return dropped(attempt, await attempt.keep(), { decision, call })',
      test: 'packages/agents/tools/test/approval.test.ts',
      title: 'takes back a call, and tells the model',
    },
    {
      removes: 'the records of its own',
      file: 'packages/agents/tools/src/session/session.ts',
      text: 'if (this.isHeld) this.#records.push(entry)',
      by: 'if (this.isHeld && false) this.#records.push(entry)',
      test: 'packages/agents/tools/test/approval.test.ts',
      title: 'takes back a call, and tells the model',
    },
    {
      removes: 'the way past a rule that asks, of what a command made below it',
      text: 'const gate = gateWithoutAsking(context.gate)',
      by: 'const { gate } = context',
      test: 'packages/agents/tools/test/grants.test.ts',
      title: 'takes back what it left',
    },
  ],
  'a tree so deep that a look takes all descriptors': [
    {
      removes: 'the longest path',
      text: 'return Buffer.byteLength(this.placeOf(path)) > Root.longestPath',
      by: 'return Buffer.byteLength(this.placeOf(path)) < 0',
      title: 'a tree that is deeper',
    },
  ],
}
