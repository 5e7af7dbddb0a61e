import type { Mutation } from './types.ts'

const virtualPath = 'packages/core/src/path/virtual-path.ts'
const openVerified = 'packages/adapter-local/src/confine/open.ts'
const keySpace = 'packages/adapter-s3/src/keys/key-space.ts'
const failures = 'packages/adapter-s3/src/client/failures.ts'

const ripgrep = 'packages/adapter-local/src/search/ripgrep.ts'
const leases = 'packages/adapter-local/test/leases.test.ts'
const descent = 'packages/adapter-local/src/confine/descent.ts'
const deepTrees = 'packages/adapter-local/test/deep-trees.test.ts'
const deepTree = 'a tree of thousands of levels, so that a call takes every descriptor or the stack'

/** Paths and links, at the file API. */
export const fileMutations: readonly Mutation[] = [
  {
    row: '`..`, `//`, NUL, lone surrogates, over-long names',
    removes: 'the check of characters',
    changes: [{ file: virtualPath, text: '  checkCharacters(input, operation)\n', by: '' }],
    test: { file: 'packages/core/test/path/parse.test.ts' },
  },
  {
    row: '`..`, `//`, NUL, lone surrogates, over-long names',
    removes: 'the check of lengths',
    changes: [{ file: virtualPath, text: '  checkLengths(segments, input, operation)\n', by: '' }],
    test: { file: 'packages/core/test/path/parse.test.ts' },
  },
  {
    row: '`..`, `//`, NUL, lone surrogates, over-long names',
    removes: 'the refusal to climb above the root',
    changes: [
      { file: virtualPath, text: 'if (depth < 0) throw outsideError(input, operation)', by: 'if (depth < 0) continue' },
    ],
    test: { file: 'packages/core/test/path/parse.test.ts' },
  },
  {
    row: "a file under another process's lease, so that opening it waits for 45 seconds",
    removes: 'the look at what ripgrep waits for',
    changes: [{ file: ripgrep, text: 'void killIfHeld(running)', by: 'void killIfHeld' }],
    test: { file: leases, title: 'left out of a search' },
  },
  {
    row: "a file under another process's lease, so that opening it waits for 45 seconds",
    removes: 'the word that a file is left out',
    changes: [
      {
        file: 'packages/adapter-local/src/search/file.ts',
        text: '      search.onUnreadable?.(task.path, known)\n',
        by: '',
      },
    ],
    test: { file: leases, title: 'left out of a search' },
  },
  {
    row: "a file under another process's lease, so that opening it waits for 45 seconds",
    removes: 'the opening before the call of the system that copies',
    changes: [
      {
        file: 'packages/adapter-local/src/write/copy-entry.ts',
        text: '  const from = await openWithPatience(',
        by: '  if (inOneCall && (await copyInKernel(task, handle, status, pathOfDescriptor(to)))) return\n  const from = await openWithPatience(',
      },
    ],
    test: { file: leases, title: 'where it is read, copied' },
  },
  {
    row: 'a directory that no path can name, so that a move to another mount deletes what it has not copied',
    removes: 'the refusal',
    changes: [
      {
        file: 'packages/core/src/files/transfer-across.ts',
        text: '      if (entry.unreachable === true) throw unreachableError(kind, entry.path)\n',
        by: '',
      },
    ],
    test: { file: 'apps/tests-files/test/workspace/mounts.test.ts', title: 'nothing that no path can name' },
  },
  {
    row: deepTree,
    removes: 'the end of what is held',
    changes: [{ file: descent, text: 'const mostHeld = 32', by: 'const mostHeld = 3_200' }],
    test: { file: deepTrees, title: 'hold few descriptors in list' },
  },
  {
    row: deepTree,
    removes: 'the comparison with the directory that was entered',
    changes: [{ file: descent, text: ' === identity) return handle', by: ' !== "") return handle' }],
    test: { file: deepTrees, title: 'only to the directory that was entered' },
  },
  {
    row: deepTree,
    removes: 'the verified path of a directory that is opened again for a listing',
    changes: [
      {
        file: 'packages/adapter-local/src/read/listing.ts',
        text: 'level.handle = await openDirectory(task, targetOf(task, level.path))',
        by: 'level.handle = { fd: -1, self: task.tree.hostPath(level.path) }',
      },
    ],
    test: { file: deepTrees, title: 'exchanged for a link while those below' },
  },
  {
    row: '`/t1` taken for `/t12`',
    removes: 'the comparison of the slash',
    changes: [
      {
        file: virtualPath,
        text: 'path.charCodeAt(root.length) === 47 && path.slice(0, root.length) === root',
        by: 'path.startsWith(root)',
      },
    ],
    test: { file: 'packages/core/test/path/parts.test.ts' },
  },
  {
    row: '`/workspace/..` through an alias',
    removes: 'parsing again behind the alias',
    changes: [
      {
        file: 'packages/core/src/path/segments.ts',
        text: '  if (first === undefined || !aliases.has(first)) return parsed\n',
        by: '  if (first === undefined || rest.length >= 0) return parsed\n',
      },
    ],
    test: { file: 'packages/core/test/path/alias.test.ts' },
  },
  {
    row: 'a link that leads outside, or round a rule',
    removes: 'the question about writing where a link leads',
    changes: [
      {
        file: 'packages/core/src/mount/walk.ts',
        text: 'this.#admitOrRefuse(options, current)',
        by: "this.#admitOrRefuse(budget.links > 0 ? { ...options, need: 'read' } : options, current)",
      },
    ],
    test: { file: 'apps/tests-files/test/workspace/links.test.ts' },
  },
  {
    row: 'a directory exchanged for a link between check and use',
    removes: 'the comparison of an opened descriptor with its path',
    changes: [
      {
        file: openVerified,
        text: '      if (tree.isAt(fd, path)) return handleOf(fd)',
        by: '      return handleOf(fd)',
      },
      {
        file: 'packages/adapter-local/src/read/at-once.ts',
        text: 'return tree.isAt(fd, path) ? work(fd, calls.fstat(fd)) : undefined',
        by: 'return work(fd, calls.fstat(fd))',
      },
    ],
    test: { file: 'packages/adapter-local/test/race.test.ts' },
  },
  {
    row: 'a FIFO, socket or device where a file is expected',
    removes: 'the refusal of special files',
    changes: [
      {
        file: openVerified,
        text: 'if (status.isFile()) return',
        by: 'if (!status.isDirectory() && !status.isSymbolicLink()) return',
      },
    ],
    test: { file: 'packages/adapter-local/test/conformance.test.ts', title: 'FIFOs' },
  },
  {
    row: 'another spelling of a denied name',
    removes: 'the match of variants',
    changes: [
      {
        file: 'packages/core/src/policy/denied-variants.ts',
        text: '  match(path: VirtualPath): ResolvedSubtreeRule | undefined {\n    if (this.empty) return undefined',
        by: '  match(path: VirtualPath): ResolvedSubtreeRule | undefined {\n    if (path.length > 0) return undefined',
      },
    ],
    test: { file: 'packages/core/test/policy/policy.test.ts' },
  },
  {
    row: 'a recursive move, copy or delete over a protected part',
    removes: 'the question for each rule and mount below',
    changes: [
      {
        file: 'packages/core/src/mount/gate.ts',
        text: "        if (decision.effect === 'deny') throw denialError(operation, below.path, decision)",
        by: '        void decision',
      },
    ],
    test: { file: 'apps/tests-files/test/workspace/mounts.test.ts' },
  },
  {
    row: 'listing or searching into a denied part',
    removes: 'the question for each directory on the way',
    changes: [
      {
        file: 'packages/core/src/mount/view.ts',
        text: "    if (!this.#entered.at(parentPath(path))) return 'hidden'\n",
        by: '',
      },
    ],
    test: { file: 'apps/tests-files/test/rules/listings.test.ts', title: 'neither enter nor describe' },
  },
  {
    row: 'listing or searching into a denied part',
    removes: 'the question whether an entry may be described',
    changes: [
      {
        file: 'packages/core/src/mount/view.ts',
        text: 'if (this.#allows(this.#needed.toDescribe, path)) return',
        by: 'if (path.length > 0) return',
      },
    ],
    test: { file: 'apps/tests-files/test/rules/listings.test.ts', title: 'neither enter nor describe' },
  },
  {
    row: 'a glob into a denied part',
    removes: 'the question for each directory',
    changes: [
      {
        file: 'packages/core/src/files/glob.ts',
        text: "    const located = context.gate.admit('list', path, 'read')\n",
        by: "    const located = { ...context.gate.admit('list', place.start, 'read'), virtual: path, path: path as never }\n",
      },
    ],
    test: { file: 'apps/tests-files/test/workspace/finding.test.ts', title: 'asks rules that are functions' },
  },
  {
    row: 'an edit that undoes a change which came between',
    removes: 'the condition of the write',
    changes: [
      {
        file: 'packages/core/src/files/edit.ts',
        text: 'adapter.write(path, content, { ifVersion, signal })',
        by: 'adapter.write(path, content, { signal })',
      },
    ],
    test: { file: 'apps/tests-stores/test/edits.test.ts', title: 'in memory' },
  },
  {
    row: 'an edit that shows a function what may not be changed',
    removes: 'the question for the right to write',
    changes: [
      {
        file: 'packages/core/src/files/edit.ts',
        text: "      context.gate.admit('write', virtual, 'write')\n",
        by: '',
      },
    ],
    test: {
      file: 'packages/executor-virtual/test/conformance.test.ts',
      title: 'needs the right to read and the right to write',
    },
  },
  {
    row: 'a rule whose path means nothing: an alias, relative, outside every mount',
    removes: 'the refusal of a rule without effect',
    changes: [
      { file: 'packages/core/src/policy/rule-paths.ts', text: '  checkEffect(path, text, rule, scope)\n', by: '' },
    ],
    test: { file: 'apps/tests-files/test/rules/paths.test.ts', title: 'refused with the path that was meant' },
  },
  {
    row: 'an adapter called directly with a hostile path',
    removes: "the adapters' own check",
    changes: [
      { file: virtualPath, text: '  if (parsed.path === path) return\n', by: '  if (parsed !== undefined) return\n' },
    ],
    test: { file: 'packages/core/test/path/parse.test.ts' },
  },
  {
    row: 'two mounts on one directory, to go round rules',
    removes: 'the refusal of roots that contain one another',
    changes: [
      {
        file: 'packages/core/src/mount/host-roots.ts',
        text: '      if (!same && !contains(directory, other) && !contains(other, directory)) continue\n',
        by: '      if (!same || otherAt.length > 0) continue\n',
      },
    ],
    test: { file: 'apps/tests-files/test/workspace/host-roots.test.ts' },
  },
  {
    row: 'a prefix of a bucket taken for another, `threads/t1` for `threads/t12`',
    removes: 'the slash behind the prefix',
    changes: [
      {
        file: keySpace,
        text: "this.prefix = root === '/' ? '' : `${root.slice(1)}/`",
        by: "this.prefix = root === '/' ? '' : root.slice(1)",
      },
    ],
    test: { file: 'packages/adapter-s3/test/tree.test.ts', title: 'never see each other' },
  },
  {
    row: 'objects whose keys are no paths (`..`, `//`, NUL)',
    removes: 'the check of listed names',
    changes: [{ file: keySpace, text: '    if (!isLegalName(name)) return false\n', by: '' }],
    test: { file: 'packages/adapter-s3/test/tree.test.ts', title: 'reports keys that no path can name' },
  },
  {
    row: 'a lost answer taken for a lost race, or the reverse',
    removes: 'the comparison of write ids',
    changes: [
      {
        file: 'packages/adapter-s3/src/objects/outcome.ts',
        text: "  if (writes.includes(id)) return 'done'\n",
        by: "  if (id === '') return 'done'\n",
      },
    ],
    test: { file: 'packages/adapter-s3/test/conditions.test.ts', title: 'a lost answer is not taken for a lost race' },
  },
  {
    row: 'a request sent again over the confirmed work of others',
    removes: 'the condition of a write that is repeated',
    changes: [
      {
        file: 'packages/adapter-s3/src/objects/put.ts',
        text: 'return { condition: seen, attributes',
        by: 'return { condition: undefined, attributes',
      },
    ],
    test: {
      file: 'packages/adapter-s3/test/answers.test.ts',
      title: 'replaces what came since only if it was seen',
    },
  },
  {
    row: 'bytes of a store that arrive damaged, or are cut off with a fitting length',
    removes: 'the refusal of bytes whose checksum differs',
    changes: [
      {
        file: 'packages/adapter-s3/src/files/read.ts',
        text: "        if (verdict !== 'right' && !isExcused) throw",
        by: "        if (verdict !== 'right' && !isExcused && digest === '') throw",
      },
    ],
    test: { file: 'packages/adapter-s3/test/bytes.test.ts', title: 'is EIO for read and readStream' },
  },
  {
    row: 'credentials of a store in errors, outputs or config files',
    removes: "the words of our own for a store's error",
    changes: [
      {
        file: failures,
        text: '  return new WorkspaceError({ ...meaningOf(error), operation, path, native: error })',
        by: '  return new WorkspaceError({ ...meaningOf(error), reason: `${meaningOf(error).reason}: ${error}`, operation, path, native: error })',
      },
    ],
    test: { file: 'packages/adapter-s3/test/refusals.test.ts', title: 'and says why' },
  },
  {
    row: 'terminal escapes and bidirectional text in names',
    removes: 'the escapes in messages',
    changes: [
      {
        file: 'packages/core/src/text/printable.ts',
        text: 'return text.toWellFormed().replace(unprintable,',
        by: "return text.toWellFormed().replace('unprintable',",
      },
    ],
    test: { file: 'packages/core/test/path/parse.test.ts' },
  },
  {
    row: "names and content that imitate an answer: `Next:`, `[note: …]`, `Error:`, an exit code, a host's tags",
    removes: 'the escapes of names',
    changes: [
      {
        file: 'packages/tools/src/session/session.ts',
        text: '    const shown = showName(name)\n',
        by: '    const shown = name\n',
      },
    ],
    test: { file: 'packages/tools/test/frames.test.ts', title: 'face split' },
  },
  {
    row: "names and content that imitate an answer: `Next:`, `[note: …]`, `Error:`, an exit code, a host's tags",
    removes: 'the fence',
    changes: [
      {
        file: 'packages/tools/src/text/frame.ts',
        text: '  if (!imitation.test(text)) return text\n',
        by: '  if (!imitation.test(text) || text !== undefined) return text\n',
      },
    ],
    test: { file: 'packages/tools/test/frames.test.ts', title: 'face split' },
  },
  {
    row: "names and content that imitate an answer: `Next:`, `[note: …]`, `Error:`, an exit code, a host's tags",
    removes: 'the line ends within a line',
    changes: [
      {
        file: 'packages/tools/src/text/frame.ts',
        text: '  return text.replaceAll(imitationWithin, escapeUnprintable)\n',
        by: '  return text\n',
      },
    ],
    test: { file: 'packages/tools/test/frames.test.ts', title: 'face split' },
  },
  {
    row: "names and content that imitate an answer: `Next:`, `[note: …]`, `Error:`, an exit code, a host's tags",
    removes: 'the escapes of the next call',
    changes: [
      {
        file: 'packages/tools/src/text/frame.ts',
        text: 'escapeUnprintable(character) === character ? character',
        by: 'escapeUnprintable(character) !== undefined ? character',
      },
    ],
    test: { file: 'packages/tools/test/frames.test.ts', title: 'next call can name it' },
  },
  {
    row: 'a time that no Date holds, or from before 1970, to make a listing, a call or a restore fail or lie',
    removes: 'the question in a stat of the disk',
    changes: [
      {
        file: 'packages/adapter-local/src/confine/status.ts',
        text: 'modifiedAt: dateable(Number(status.mtimeNs / 1_000n) / 1_000),',
        by: 'modifiedAt: [dateable, Number(status.mtimeNs / 1_000n) / 1_000][1] as number,',
      },
    ],
    test: { file: 'apps/cli/test/files.test.ts', title: 'time that no Date holds' },
  },
  {
    row: 'a time that no Date holds, or from before 1970, to make a listing, a call or a restore fail or lie',
    removes: 'the question in the results of a driver',
    changes: [
      {
        file: 'packages/core/src/adapter/base/guard.ts',
        text: 'modifiedAt === undefined || dateable(modifiedAt) !== undefined',
        by: 'modifiedAt === undefined || dateable(modifiedAt) !== null',
      },
    ],
    test: { file: 'packages/core/test/adapter/times.test.ts', title: 'each result of a driver' },
  },
  {
    row: 'a time that no Date holds, or from before 1970, to make a listing, a call or a restore fail or lie',
    removes: 'the limits of an archive',
    changes: [
      {
        file: 'packages/core/src/adapter/times.ts',
        text: '  return new Date(Math.min(Math.max(time, 0), latestInTar * 1_000))\n',
        by: '  return new Date(Math.min(time, latestInTar ** 2))\n',
      },
    ],
    test: { file: 'packages/core/test/adapter/times.test.ts', title: 'clamped' },
  },
  {
    row: 'a time that no Date holds, or from before 1970, to make a listing, a call or a restore fail or lie',
    removes: 'the time as text',
    changes: [
      {
        file: 'packages/snapshots/src/disk/restore/marks.ts',
        text: '  return String(mtime / 1_000)\n',
        by: '  return (mtime / 1_000) as unknown as string\n',
      },
    ],
    test: { file: 'packages/snapshots/test/acts.test.ts', title: 'before 1970' },
  },
  {
    row: 'what is mounted of a bucket read through its neighbour',
    removes: "the prefix in the mount's root",
    changes: [
      {
        file: 'packages/adapter-rclone/src/state/configuration.ts',
        text: "prefix === '' ? bucket : `${bucket}/${prefix}`",
        by: 'prefix === bucket ? prefix : bucket',
      },
    ],
    test: { file: 'packages/adapter-rclone/test/mount.test.ts', title: 'shows nothing else of the bucket' },
  },
  {
    row: 'credentials, bucket or endpoint in the process list, the mount table, a file or an error',
    removes: 'the removal of the file with the credentials',
    changes: [
      {
        file: 'packages/adapter-rclone/src/state/configuration.ts',
        text: '  await rm(config, { force: true })\n',
        by: '  void [rm, config]\n',
      },
    ],
    test: { file: 'packages/adapter-rclone/test/mount.test.ts', title: 'shows no credential' },
  },
  {
    row: "the mount's control interface",
    removes: 'the password',
    changes: [
      {
        file: 'packages/adapter-rclone/src/mount/flags.ts',
        text: "    ...['--rc-htpasswd', passwords],\n",
        by: "    '--rc-no-auth',\n    ...(passwords === '' ? [''] : []),\n",
      },
    ],
    test: { file: 'packages/adapter-rclone/test/mount.test.ts', title: 'without its password' },
  },
  {
    row: 'a mount that hangs, to stop the process',
    removes: 'telling those who wait',
    changes: [
      {
        file: 'packages/adapter-rclone/src/mount/mount.ts',
        text: '    this.#pending.expire()\n    const hungMs',
        by: '    const hungMs',
      },
    ],
    test: { file: 'packages/adapter-rclone/test/recovery.test.ts', title: 'operations fail in time' },
  },
  {
    row: 'two writers of one thread, on one machine or on several',
    removes: 'the exclusive creation',
    changes: [
      {
        file: 'packages/threads/src/lease/register.ts',
        text: "const options = { ifVersion: 'absent', parents: true, signal, mode: 0o600 } as const",
        by: 'const options = { parents: true, signal, mode: 0o600 } as const',
      },
    ],
    test: { file: 'packages/threads/test/lease.test.ts', title: 'in a directory exclude each other' },
  },
  {
    row: 'a holder that was stopped or cut off, and goes on after its successor began',
    removes: 'the question before each request',
    changes: [
      {
        file: 'packages/threads/src/open/fence.ts',
        text: 'askingSignal(AbortSignal.any([lease.lost]), () => void lease.isHeld())',
        by: 'askingSignal(AbortSignal.any([lease.lost]), () => undefined)',
      },
    ],
    test: { file: 'packages/threads/test/loss.test.ts', title: 'sends nothing more' },
  },
  {
    row: 'a holder that was stopped or cut off, and goes on after its successor began',
    removes: 'the question before each request of a copy on this machine',
    changes: [
      {
        file: 'packages/threads/src/open/open-thread.ts',
        text: 'const tree = prefix(store, treeOf',
        by: 'const tree = prefix(place.store, treeOf',
      },
    ],
    test: { file: 'packages/threads/test/replica.test.ts', title: 'send nothing after the loss' },
  },
  {
    row: 'work of the last holder that is not in the store when the next one begins',
    removes: 'keeping the lease after a failed flush',
    changes: [
      {
        file: 'packages/threads/src/open/thread.ts',
        text: '    if (this.isUnflushed) {\n      const error',
        by: '    if (this.isUnflushed && failure === undefined) {\n      const error',
      },
    ],
    test: { file: 'packages/threads/test/loss.test.ts', title: 'keeps the lease' },
  },
  {
    row: 'an archive that is empty or cut, or an import over something that is there',
    removes: 'the look for the end',
    changes: [{ file: 'packages/threads/src/open/archive.ts', text: '  if (!end.isThere) throw notWhole()\n', by: '' }],
    test: { file: 'packages/threads/test/import.test.ts', title: 'cut anywhere' },
  },
]
