import type { Mutations } from '../types.ts'

export const fileMutations: Mutations = {
  'an ignore file that rules deny, whose lines a search would show by what it leaves out': [
    {
      removes: 'the question for the right to read an ignore file',
      text: "    if (gate.decide({ operation: 'read', path, need: 'read' }).effect === 'deny') return undefined\n",
      title: 'rules deny',
    },
  ],
  'an ignore file of megabytes, or with lines that take long to match': [
    { removes: 'the limit on wildcards', text: '  if (cost > maxCost) return undefined\n', title: 'of 10 MB' },
  ],
  '`..`, `//`, NUL, lone surrogates, over-long names': [
    { removes: 'the check of characters', text: '  checkCharacters(input, operation)\n' },
    { removes: 'the check of lengths', text: '  checkLengths(segments, input, operation)\n' },
    {
      removes: 'the refusal to climb above the root',
      text: 'if (depth < 0) throw outsideError(input, operation)',
      by: 'if (depth < 0) continue',
    },
  ],
  "ripgrep in a tree of root, which would read what its caller's rules leave out, or a file of the machine": [
    {
      removes: 'the capabilities that root gives up',
      text: "  if ($o{plain_root}) { prctl('capabilities', 28, 3); prctl('capabilities', 47, 4) }\n",
      test: 'packages/kernel/sandbox/test/confine/loader.test.ts',
      title: 'leaves root no capability',
    },
  ],
  'an expression of which a hint for ripgrep would lose matches': [
    {
      removes: 'the end of a text at a class or a group',
      text: 'if (part.literal === undefined) end()',
      by: 'if (part.literal === undefined) void 0',
      title: 'in every match',
    },
    {
      removes: 'the exclusion of repeated characters',
      text: '    } else end()\n',
      by: '    } else run.push(part.literal)\n',
      title: 'in every match',
    },
  ],
  "a file under another process's lease, so that opening it waits for 45 seconds": [
    {
      removes: 'the look at what ripgrep waits for',
      text: 'void killIfHeld(running)',
      by: 'void killIfHeld',
      title: 'left out of a search',
    },
    {
      removes: 'the word that a file is left out',
      file: 'packages/adapters/local/src/search/file.ts',
      text: '      search.onUnreadable?.(task.path, known)\n',
      title: 'left out of a search',
    },
    {
      removes: 'the opening before the call of the system that copies',
      text: '  const from = await openWithPatience(',
      by: '  if (inOneCall && (await copyInKernel(task, handle, status, pathOfDescriptor(to)))) return\n  const from = await openWithPatience(',
      title: 'where it is read, copied',
    },
  ],
  'a directory that no path can name, so that a move to another mount deletes what it has not copied': [
    {
      removes: 'the refusal',
      text: '      if (entry.unreachable === true) throw unreachableError(kind, entry.path)\n',
      title: 'nothing that no path can name',
    },
  ],
  'a tree of thousands of levels, so that a call takes every descriptor or the stack': [
    {
      removes: 'the end of what is held',
      text: 'const mostHeld = 32',
      by: 'const mostHeld = 3_200',
      title: 'hold few descriptors in list',
    },
    {
      removes: 'the comparison with the directory that was entered',
      text: ' === identity) return handle',
      by: ' !== "") return handle',
      title: 'only to the directory that was entered',
    },
    {
      removes: 'the verified path of a directory that is opened again for a listing',
      text: 'level.handle = await openDirectory(task, targetOf(task, level.path))',
      by: 'level.handle = { fd: -1, self: task.tree.hostPath(level.path) }',
      title: 'exchanged for a link while those below',
    },
  ],
  '`/t1` taken for `/t12`': [
    {
      removes: 'the comparison of the slash',
      text: 'path.charCodeAt(root.length) === 47 && path.slice(0, root.length) === root',
      by: 'path.startsWith(root)',
    },
  ],
  '`/workspace/..` through an alias': [
    {
      removes: 'parsing again behind the alias',
      text: '  if (first === undefined || !aliases.has(first)) return parsed\n',
      by: '  if (first === undefined || rest.length >= 0) return parsed\n',
    },
  ],
  'a link that leads outside, or round a rule': [
    {
      removes: 'the question about writing where a link leads',
      text: 'this.#admitOrRefuse(options, current)',
      by: "this.#admitOrRefuse(budget.links > 0 ? { ...options, need: 'read' } : options, current)",
      test: 'lab/tests-files/test/workspace/links.test.ts',
    },
  ],
  'a directory exchanged for a link between check and use': [
    {
      removes: 'the comparison of an opened descriptor with its path',
      changes: [
        { text: '      if (tree.isAt(fd, path)) return handleOf(fd)', by: '      return handleOf(fd)' },
        {
          file: 'packages/adapters/local/src/read/read.ts',
          text: 'return tree.isAt(fd, path) ? work(fd, calls.fstat(fd)) : undefined',
          by: 'return work(fd, calls.fstat(fd))',
        },
      ],
    },
  ],
  'a FIFO, socket or device where a file is expected': [
    {
      removes: 'the refusal of special files',
      text: 'if (status.isFile()) return',
      by: 'if (!status.isDirectory() && !status.isSymbolicLink()) return',
      test: 'packages/adapters/local/test/conformance.test.ts',
      title: 'FIFOs',
    },
  ],
  'another spelling of a denied name': [
    {
      removes: 'the match of variants',
      text: '  match(path: VirtualPath): SubtreeRule<VirtualPath> | undefined {\n    if (this.empty) return undefined',
      by: '  match(path: VirtualPath): SubtreeRule<VirtualPath> | undefined {\n    if (path.length > 0) return undefined',
      test: 'packages/kernel/core/test/policy/policy.test.ts',
    },
  ],
  'a recursive move, copy or delete over a protected part': [
    {
      removes: 'the question for each rule and mount below',
      text: "        if (decision.effect === 'deny') throw denialError(operation, below.path, decision)",
      by: '        void decision',
      test: 'lab/tests-files/test/workspace/mounts.test.ts',
    },
  ],
  'listing or searching into a denied part': [
    {
      removes: 'the question for each directory on the way',
      text: "    if (!this.#entered.at(parentPath(path))) return 'hidden'\n",
      title: 'neither enter nor describe',
    },
    {
      removes: 'the question whether an entry may be described',
      text: 'if (this.#allows(this.#needed.toDescribe, path)) return',
      by: 'if (path.length > 0) return',
      title: 'neither enter nor describe',
    },
  ],
  'a glob into a denied part': [
    {
      removes: 'the question for each directory',
      text: "    const located = context.gate.admit('list', path, 'read')\n",
      by: "    const located = { ...context.gate.admit('list', place.start, 'read'), virtual: path, path: path as never }\n",
      title: 'asks rules that are functions',
    },
  ],
  'an edit that undoes a change which came between': [
    {
      removes: 'the condition of the write',
      text: 'adapter.write(path, content, { ifVersion, signal })',
      by: 'adapter.write(path, content, { signal })',
      title: 'in memory',
    },
  ],
  'an edit that shows a function what may not be changed': [
    {
      removes: 'the question for the right to write',
      text: "{ operation: 'write', need: 'write', followLast: true },",
      by: "{ operation: 'write', need: 'read', followLast: true },",
      test: 'packages/executors/virtual/test/conformance.test.ts',
      title: 'needs the right to read and the right to write',
    },
  ],
  'a rule whose path means nothing: an alias, relative, outside every mount': [
    {
      removes: 'the refusal of a rule without effect',
      text: '  checkEffect(path, text, rule, scope)\n',
      title: 'refused with the path that was meant',
    },
  ],
  'an adapter called directly with a hostile path': [
    {
      removes: "the adapters' own check",
      text: '  if (parsed.path === path) return\n',
      by: '  if (parsed !== undefined) return\n',
    },
  ],
  'two mounts on one directory, to go round rules': [
    {
      removes: 'the refusal of roots that contain one another',
      text: '      if (!same && !contains(directory, other) && !contains(other, directory)) continue\n',
      by: '      if (!same || otherAt.length > 0) continue\n',
    },
  ],
  'a prefix of a bucket taken for another, `threads/t1` for `threads/t12`': [
    {
      removes: 'the slash behind the prefix',
      text: "this.prefix = root === '/' ? '' : `${root.slice(1)}/`",
      by: "this.prefix = root === '/' ? '' : root.slice(1)",
      title: 'never see each other',
    },
  ],
  'objects whose keys are no paths (`..`, `//`, NUL)': [
    {
      removes: 'the check of listed names',
      text: '    if (!isLegalName(name)) return false\n',
      title: 'reports keys that no path can name',
    },
  ],
  'a lost answer taken for a lost race, or the reverse': [
    {
      removes: 'the comparison of write ids',
      text: "  if (writes.includes(id)) return 'done'\n",
      by: "  if (id === '') return 'done'\n",
      title: 'a lost answer is not taken for a lost race',
    },
  ],
  'a request sent again over the confirmed work of others': [
    {
      removes: 'the condition of a write that is repeated',
      text: 'return { condition: seen, attributes',
      by: 'return { condition: undefined, attributes',
      title: 'replaces what came since only if it was seen',
    },
  ],
  'bytes of a store that arrive damaged, or are cut off with a fitting length': [
    {
      removes: 'the refusal of bytes whose checksum differs',
      text: "        if (verdict !== 'right' && !isExcused) throw",
      by: "        if (verdict !== 'right' && !isExcused && digest === '') throw",
      title: 'is EIO for read and readStream',
    },
  ],
  'credentials of a store in errors, outputs or config files': [
    {
      removes: "the words of our own for a store's error",
      text: '  return new WorkspaceError({ ...meaningOf(error), operation, path, native: error })',
      by: '  return new WorkspaceError({ ...meaningOf(error), reason: `${meaningOf(error).reason}: ${error}`, operation, path, native: error })',
      title: 'and says why',
    },
  ],
  'terminal escapes and bidirectional text in names': [
    {
      removes: 'the escapes in messages',
      text: 'return text.toWellFormed().replace(unprintable,',
      by: "return text.toWellFormed().replace('unprintable',",
    },
  ],
  "names and content that imitate an answer: `Next:`, `[note: …]`, `Error:`, an exit code, a host's tags": [
    {
      removes: 'the escapes of names',
      text: '    const shown = showName(name)\n',
      by: '    const shown = name\n',
      test: 'packages/agents/tools/test/frames.test.ts',
      title: 'face split',
    },
    {
      removes: 'the fence',
      text: '  if (!imitation.test(text)) return text\n',
      by: '  if (!imitation.test(text) || text !== undefined) return text\n',
      test: 'packages/agents/tools/test/frames.test.ts',
      title: 'face split',
    },
    {
      removes: 'the line ends within a line',
      text: '  return text.replaceAll(imitationWithin, escapeUnprintable)\n',
      by: '  return text\n',
      test: 'packages/agents/tools/test/frames.test.ts',
      title: 'face split',
    },
    {
      removes: 'the escapes of the next call',
      text: 'escapeUnprintable(character) === character ? character',
      by: 'escapeUnprintable(character) !== undefined ? character',
      title: 'next call can name it',
    },
  ],
  'a time that no Date holds, or from before 1970, to make a listing, a call or a restore fail or lie': [
    {
      removes: 'the question in a stat of the disk',
      text: 'modifiedAt: fileTimes.dateable(Number(status.mtimeNs / 1_000n) / 1_000),',
      by: 'modifiedAt: [dateable, Number(status.mtimeNs / 1_000n) / 1_000][1] as number,',
      test: 'apps/cli/test/files.test.ts',
      title: 'time that no Date holds',
    },
    {
      removes: 'the question in the results of a driver',
      text: 'modifiedAt === undefined || dateable(modifiedAt) !== undefined',
      by: 'modifiedAt === undefined || dateable(modifiedAt) !== null',
      title: 'each result of a driver',
    },
    {
      removes: 'the limits of an archive',
      text: '  return new Date(Math.min(Math.max(time, 0), latestInTar * 1_000))\n',
      by: '  return new Date(Math.min(time, latestInTar ** 2))\n',
      title: 'clamped',
    },
    {
      removes: 'the time as text',
      text: '  return String(mtime / 1_000)\n',
      by: '  return (mtime / 1_000) as unknown as string\n',
      title: 'before 1970',
    },
  ],
  'what is mounted of a bucket read through its neighbour': [
    {
      removes: "the prefix in the mount's root",
      text: "prefix === '' ? bucket : `${bucket}/${prefix}`",
      by: 'prefix === bucket ? prefix : bucket',
      title: 'shows nothing else of the bucket',
    },
  ],
  'credentials, bucket or endpoint in the process list, the mount table, a file or an error': [
    {
      removes: 'the removal of the file with the credentials',
      text: '  await rm(config, { force: true })\n',
      by: '  void [rm, config]\n',
      title: 'shows no credential',
    },
  ],
  "the mount's control interface": [
    {
      removes: 'the password',
      file: 'packages/adapters/rclone/src/mount/flags.ts',
      text: "    ...['--rc-htpasswd', passwords],\n",
      by: "    '--rc-no-auth',\n    ...(passwords === '' ? [''] : []),\n",
      title: 'without its password',
    },
  ],
  'a mount that hangs, to stop the process': [
    {
      removes: 'telling those who wait',
      text: '    this.#pending.expire()\n    const hungMs',
      by: '    const hungMs',
      title: 'operations fail in time',
    },
  ],
  'two writers of one thread, on one machine or on several': [
    {
      removes: 'the exclusive creation',
      text: "const options = { ifVersion: 'absent', parents: true, signal, mode: 0o600 } as const",
      by: 'const options = { parents: true, signal, mode: 0o600 } as const',
      title: 'in a directory exclude each other',
    },
  ],
  'a holder that was stopped or cut off, and goes on after its successor began': [
    {
      removes: 'the question before each request',
      text: 'if (!lease.isHeld()) controller.abort(ranOut)',
      by: 'void controller',
      title: 'sends nothing more',
    },
    {
      removes: 'the question before each request of a copy on this machine',
      file: 'packages/agents/threads/src/open/open-thread.ts',
      text: 'const tree = prefix(store, treeOf',
      by: 'const tree = prefix(place.store, treeOf',
      title: 'send nothing after the loss',
    },
  ],
  'work of the last holder that is not in the store when the next one begins': [
    {
      removes: 'keeping the lease after a failed flush',
      text: '    if (this.isUnflushed) {\n      const error',
      by: '    if (this.isUnflushed && failure === undefined) {\n      const error',
      title: 'keeps the lease',
    },
  ],
  'an archive that is empty or cut, or an import over something that is there': [
    { removes: 'the look for the end', text: '  if (!end.isThere) throw notWhole()\n', title: 'cut anywhere' },
  ],
}
