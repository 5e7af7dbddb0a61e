import { Option } from 'commander'

import { escapeName } from '../../terminal/escape.ts'
import { standardInput } from '../../terminal/input.ts'
import { type FileCommand, fileCommand, forEach } from './add.ts'

interface Overwrite {
  readonly overwrite?: true
  readonly recursive?: true
}

type Content = string | AsyncIterable<Uint8Array> | undefined

const paths = [['<path...>']] as const
const sourceAndDestination = [['<source>'], ['<destination>']] as const
const overwrite = ['-f, --overwrite', 'replace what is there'] as const
const newPath =
  'also from one mount to another. The destination is the new path itself, never a directory to put it into; an existing ' +
  'file stays, unless --overwrite is given.'

export const changingCommands: readonly FileCommand[] = [
  fileCommand<[path: string, content: Content], { readonly ifVersion?: string; readonly ifAbsent?: true }>({
    name: 'write',
    summary: 'create or replace a file',
    description:
      'Creates or replaces a file, in one step: readers see the old or the new content. The content is the argument, as it ' +
      'is, or standard input. Missing directories are made.',
    arguments: [['<path>'], ['[content]', 'default: standard input']],
    options: [
      new Option('--if-version <version>', 'only when the file still has this version').conflicts('ifAbsent'),
      ['--if-absent', 'only when nothing is there'],
    ],
    examples: [
      "ws --root . write /notes/a.md 'hello'",
      'ws --root . write --if-absent /lock "$$"',
      'ws --root . write /copy.png < logo.png',
      "ws --root . write -- /notes/list.md '- starts with a dash'",
    ],
    prepare: ([path, content]) => [
      path,
      content ?? standardInput('give the content as an argument, or a file or pipe to read'),
    ],
    async run({ workspace, output, signal }, [path, data = ''], { ifVersion, ifAbsent }) {
      const result = await workspace.write(path, data, { ifVersion: ifAbsent ? 'absent' : ifVersion, signal })
      if (output.json) await output.value({ path, ...result })
    },
  }),
  fileCommand<[path: string, old: string, text: string], { readonly all?: true; readonly ifVersion?: string }>({
    name: 'edit',
    summary: 'replace a text in a file',
    description:
      'Replaces a text in a file, in one step; every other byte stays. The old text must be there exactly once, unless --all ' +
      'is given.',
    arguments: [['<path>'], ['<old>', 'the text as it is in the file'], ['<new>', 'may be empty']],
    options: [
      ['-a, --all', 'replace every occurrence'],
      ['--if-version <version>', 'only when the file still has this version'],
    ],
    examples: ["ws --root . edit /notes/a.md hello 'good morning'", "ws --root . edit --all /src/a.js 'var ' 'let '"],
    async run({ workspace, output, signal }, [path, oldText, newText], { all, ifVersion }) {
      const result = await workspace.edit(path, { oldText, newText, all }, { ifVersion, signal })
      if (output.json) await output.value({ path, ...result })
    },
  }),
  fileCommand<[paths: string[]], { readonly parents?: true }>({
    name: 'mkdir',
    summary: 'make directories',
    description: 'Makes directories. Goes on with the next path after an error.',
    arguments: paths,
    options: [['-p, --parents', 'make missing parents too; a directory that is there is not an error']],
    examples: ['ws --root . mkdir /notes', 'ws --root . mkdir -p /a/b/c /d'],
    run: ({ workspace, ...context }, [all], { parents }) =>
      forEach(context, all, async (path) => {
        await workspace.createDirectory(path, { recursive: parents === true, signal: context.signal })
        if (context.output.json) await context.output.value({ path })
      }),
  }),
  fileCommand<[source: string, destination: string], Overwrite>({
    name: 'cp',
    summary: 'copy',
    description: `Copies a file or a link itself, with -r a directory, ${newPath}`,
    arguments: sourceAndDestination,
    options: [['-r, --recursive', 'a directory with everything below'], overwrite],
    examples: ['ws --root . cp /a.md /notes/a.md', 'ws --root . cp -r /src /backup'],
    progress: ([source]) => `copying ${escapeName(source)}`,
    async run({ workspace, output, signal }, [source, destination], { recursive, ...flags }) {
      const result = await workspace.copy(source, destination, { ...flags, recursive: recursive === true, signal })
      if (output.json) await output.value({ source, destination, ...result })
    },
  }),
  fileCommand<[source: string, destination: string], Pick<Overwrite, 'overwrite'>>({
    name: 'mv',
    summary: 'move or rename',
    description: `Moves a file, a link itself or a directory, ${newPath}`,
    arguments: sourceAndDestination,
    options: [overwrite],
    examples: ['ws --root . mv /a.md /notes/a.md', 'ws --root . mv -f build dist'],
    progress: ([source]) => `moving ${escapeName(source)}`,
    async run({ workspace, output, signal }, [source, destination], flags) {
      const result = await workspace.move(source, destination, { ...flags, signal })
      if (output.json) await output.value({ source, destination, ...result })
    },
  }),
  fileCommand<[paths: string[]], { readonly recursive?: true; readonly force?: true }>({
    name: 'rm',
    summary: 'remove files and directories',
    description:
      'Removes files, links themselves, and empty directories; with -r directories with everything below. Where a rule or ' +
      'a mount below says no, nothing of that directory is removed. Goes on with the next path after an error.',
    arguments: paths,
    options: [
      ['-r, --recursive', 'directories with everything below'],
      ['-f, --force', 'a missing path is not an error'],
    ],
    examples: ['ws --root . rm /notes/a.md', 'ws --root . rm -rf node_modules -- -odd-name'],
    run: ({ workspace, ...context }, [all], flags) =>
      forEach(context, all, async (path) => {
        await workspace.delete(path, { ...flags, signal: context.signal })
        if (context.output.json) await context.output.value({ path, removed: true })
      }),
  }),
  fileCommand<[]>({
    name: 'flush',
    summary: 'wait until everything is in the store',
    description:
      'Waits until everything that was written is in the store for good. On a mount by rclone that includes what an earlier ' +
      'ws that was killed had left in the cache. Other storage holds nothing back.',
    examples: ['ws --rclone bucket/threads/t1 flush'],
    progress: () => 'writing to the store',
    async run({ workspace, output, signal }) {
      await workspace.flush({ signal })
      if (output.json) await output.value({ flushed: true })
    },
  }),
]
