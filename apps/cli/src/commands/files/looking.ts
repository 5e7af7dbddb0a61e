import { isUtf8 } from 'node:buffer'

import type { Stat } from '@ws/core'
import { Option } from 'commander'

import { exitCodes } from '../../exit-codes.ts'
import { escapeName, nameOn } from '../../terminal/escape.ts'
import { renderTable } from '../../terminal/table.ts'
import { complainTo } from '../../terminal/wrap.ts'
import { parseCount } from '../options.ts'
import { type FileCommand, type FileContext, fileCommand, forEach } from './add.ts'
import { glob, type GlobFlags } from './glob.ts'
import { ls, type LsFlags } from './ls.ts'
import { tree, type TreeFlags } from './tree.ts'

const paths = [['<path...>']] as const

export const lookingCommands: readonly FileCommand[] = [
  fileCommand<[path?: string], LsFlags>({
    name: 'ls',
    summary: 'list a directory',
    description: 'Lists a directory, dotfiles included, sorted. With --json one entry a line.',
    arguments: [['[path]', "default: the workspace's root"]],
    options: [
      ['-a, --all', 'dotfiles too, as always'],
      ['-l, --long', 'with type, permissions, size in bytes, time and the target of a link'],
      ['-R, --recursive', 'everything below, with full paths'],
      ['-0, --null', 'names as they are, with a NUL after each instead of a new line'],
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
  fileCommand<[path?: string], TreeFlags>({
    name: 'tree',
    summary: 'show a directory with everything below',
    description:
      'Shows a directory with everything below, sorted, and counts it. A directory that a rule denies is listed and not ' +
      'entered. With --json one entry a line.',
    arguments: [['[path]', "default: the workspace's root"]],
    options: [new Option('-L, --depth <levels>', 'levels below the directory (default: all)').argParser(parseCount)],
    examples: ['ws --root . tree', 'ws --root . tree -L 2 /src'],
    readOnly: true,
    run: (context, [path], flags) => tree(context, path, flags),
  }),
  fileCommand<[patterns: string[]], GlobFlags>({
    name: 'glob',
    summary: 'find files by name',
    description:
      'Prints the paths that match a glob: `*.ts` at any depth, `src/**`, `!*.min.js`. At most 10,000. Finding nothing is not ' +
      'an error.',
    arguments: [['<pattern...>', 'in quotes, so that your shell leaves them alone']],
    options: [
      ['--in <dir>', "the directory to start from (default: the workspace's root)"],
      ['--no-hidden', 'leave out names that begin with a dot'],
      ['-0, --null', 'names as they are, with a NUL after each instead of a new line'],
    ],
    examples: ["ws --root . glob '*.ts'", "ws --root . glob --in /src '*.ts' '!*.test.ts'"],
    readOnly: true,
    progress: () => 'looking for names',
    run: (context, [patterns], flags) => glob(context, patterns, flags),
  }),
  fileCommand<[paths: string[]]>({
    name: 'cat',
    summary: 'print files',
    description: 'Prints files byte for byte. With --json one file a line, as utf8 or base64, with its version.',
    arguments: paths,
    examples: [
      'ws --root . cat /README.md',
      'ws --root . cat assets/logo.png > logo.png',
      'ws --root . --json cat /a.json | jq -r .version   # for write --if-version',
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
        await output.content((await workspace.readStream(path, { signal })).stream)
      }
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
  fileCommand<[pattern: string, path?: string], { readonly regex?: true; readonly ignoreCase?: true }>({
    name: 'search',
    summary: 'find lines in files',
    description:
      'Prints the lines that hold a text, with path and line number, as the file API finds them: files that a rule denies are left ' +
      'out. At most 1,000 lines. Binary files are not searched. Ends with 1 where no line is found.',
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
    progress: ([, path = '/']) => `searching ${escapeName(path)}`,
    async run({ workspace, output, signal }, [pattern, path], { regex, ignoreCase }) {
      const onUnreadable = (file: string, { message }: Error): void => {
        complainTo(process.stderr, `${nameOn(process.stderr, file)} was left out: ${message}`)
      }
      const options = { in: path ?? workspace.root, regex, caseSensitive: !ignoreCase, signal, onUnreadable }
      let code: number = exitCodes.failed
      for await (const hit of workspace.search(pattern, options)) {
        code = exitCodes.ok
        if (output.json) await output.value(hit)
        else await output.line(`${output.name(hit.path)}:${hit.line}:${output.name(hit.text)}`)
      }
      return code
    },
  }),
]

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
