import { isUtf8 } from 'node:buffer'

import type { Stat } from '@ws/core'
import { Option } from 'commander'

import { standardInput } from '../../terminal/input.ts'
import { renderTable } from '../../terminal/table.ts'
import { type FileCommand, type FileContext, fileCommand, forEach } from './add.ts'
import { ls, type LsFlags } from './ls.ts'

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

/** The commands on files. */
export const fileCommands: readonly FileCommand[] = [
  fileCommand<[path?: string], LsFlags>({
    name: 'ls',
    summary: 'list a directory',
    description: 'Lists a directory, dotfiles included, sorted. With --json one entry a line.',
    arguments: [['[path]', "default: the workspace's root"]],
    options: [
      ['-a, --all', 'dotfiles too, as always'],
      ['-l, --long', 'with type, permissions, size in bytes, time and the target of a link'],
      ['-R, --recursive', 'everything below, with full paths'],
      ['-0, --null', 'names as they are, with a NUL behind each instead of a new line'],
    ],
    examples: [
      'ws --root . ls',
      'ws --root . ls -lR /src',
      'ws --root . ls -R0 | xargs -0 -n1 echo',
      'ws --root . --at /workspace ls /          # the mounts',
    ],
    readOnly: true,
    run: (context, [path], flags) => ls(context, path, flags),
  }),
  fileCommand<[paths: string[]]>({
    name: 'cat',
    summary: 'print files',
    description: 'Prints files byte for byte. With --json one file a line, as utf8 or base64, with its version.',
    arguments: paths,
    examples: [
      'ws --root . cat /README.md',
      'ws --root . cat assets/logo.png > logo.png',
      'ws --root . --json cat /package.json | jq -r .version     # for write --if-version',
    ],
    readOnly: true,
    async run({ workspace, output, signal }, [all]) {
      for (const path of all) {
        if (output.json) {
          const { bytes, stat } = await workspace.read(path, { signal })
          const encoding = isUtf8(bytes) ? 'utf8' : 'base64'
          await output.value({ path, ...stat, encoding, content: Buffer.from(bytes).toString(encoding) })
          continue
        }
        const { stream } = await workspace.readStream(path, { signal })
        for await (const chunk of stream) await output.bytes(chunk)
      }
    },
  }),
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
  fileCommand<[paths: string[]]>({
    name: 'stat',
    summary: 'show what is at a path',
    description:
      'Shows type, size, time, permissions and version of a file, a directory or a link itself. With --json one path a line. ' +
      'Goes on with the next path after an error.',
    arguments: paths,
    examples: ['ws --root . stat /notes/a.md', 'ws --root . --json stat /a /b'],
    readOnly: true,
    run: (context, [all]) =>
      forEach(context, all, async (path) => {
        const { workspace, output, signal } = context
        const found = await workspace.stat(path, { signal })
        const target = found.type === 'symlink' ? await workspace.readSymlink(path, { signal }) : undefined
        if (output.json) await output.value({ path, ...found, target })
        else await output.line(facts(context, path, found, target))
      }),
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
    async run({ workspace, output, signal }) {
      await workspace.flush({ signal })
      if (output.json) await output.value({ flushed: true })
    },
  }),
  fileCommand<[pattern: string, path?: string], { readonly regex?: true; readonly ignoreCase?: true }>({
    name: 'search',
    summary: 'find lines in files',
    description:
      'Prints the lines that hold a text, with path and line number, as the file API finds them: files that a rule denies are left ' +
      'out. At most 1,000 lines. Binary files are not searched. Finding nothing is not an error.',
    arguments: [
      ['<pattern>', 'a text as it is; with -e a regular expression (RE2)'],
      ['[path]', "a file or a directory (default: the workspace's root)"],
    ],
    options: [
      ['-e, --regex', 'the pattern is a regular expression'],
      ['-i, --ignore-case', 'upper and lower case are the same'],
    ],
    examples: ['ws --root . search TODO /src', "ws --s3 bucket/threads/t1 --json search -e 'TODO|FIXME'"],
    readOnly: true,
    async run({ workspace, output, signal }, [pattern, path], { regex, ignoreCase }) {
      const options = { in: path ?? workspace.root, regex, caseSensitive: !ignoreCase, signal }
      for await (const hit of workspace.search(pattern, options)) {
        if (output.json) await output.value(hit)
        else await output.line(`${output.name(hit.path)}:${hit.line}:${output.name(hit.text)}`)
      }
    },
  }),
]

/** The table of `stat`. */
function facts({ output, style }: FileContext, path: string, found: Stat, target: string | undefined): string {
  const { type, size, modifiedAt, mode, version } = found
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['path', output.name(path)],
    ['type', type],
    ['target', target === undefined ? undefined : output.name(target)],
    ['size', type === 'file' ? `${size} bytes` : undefined],
    ['modified', modifiedAt === undefined ? undefined : new Date(modifiedAt).toISOString()],
    ['mode', mode === undefined ? undefined : (mode & 0o7777).toString(8).padStart(4, '0')],
    ['version', version],
  ]
  return renderTable(rows.flatMap(([name, value]) => (value === undefined ? [] : [[style.dim(name), value]])))
}
