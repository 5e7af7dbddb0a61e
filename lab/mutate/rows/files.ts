import type { Mutations } from '../types.ts'

export const fileMutations: Mutations = {
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
      removes: 'the opening before the call of the system that copies',
      text: '  const from = await openWithPatience(',
      by: '  if (await copyInKernel(task, handle.self, status, pathOfDescriptor(to))) return\n  const from = await openWithPatience(',
      title: 'where it is read, copied',
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
  'a glob into a denied part': [
    {
      removes: 'the question for each directory',
      text: "    const located = context.gate.admit('list', path, 'read')\n",
      by: "    const located = { ...context.gate.admit('list', place.start, 'read'), virtual: path, path: path as never }\n",
      title: 'asks rules that are functions',
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
  'a prefix of a bucket taken for another, `threads/t1` for `threads/t12`': [
    {
      removes: 'the slash behind the prefix',
      text: "this.prefix = root === '/' ? '' : `${root.slice(1)}/`",
      by: "this.prefix = root === '/' ? '' : root.slice(1)",
      title: 'never see each other',
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
  ],
  'what is mounted of a bucket read through its neighbour': [
    {
      removes: "the prefix in the mount's root",
      text: "prefix === '' ? bucket : `${bucket}/${prefix}`",
      by: 'prefix === bucket ? prefix : bucket',
      title: 'shows nothing else of the bucket',
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
  'a holder that was stopped or cut off, and goes on after its successor began': [
    {
      removes: 'the question before each request of a copy on this machine',
      file: 'packages/agents/threads/src/open/open-thread.ts',
      text: 'fence(place.store, { lease, directories',
      by: 'fence(place.store, { lease: replica ? undefined : lease, directories',
      title: 'ask the lease before each request of a push',
    },
  ],
}
