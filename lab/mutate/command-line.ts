import type { Mutation } from './types.ts'

const row =
  'a package with the name of an optional one (`node_modules/@ws/…`), planted in the working directory, in the workspace, in a parent of either, or where `NODE_PATH` leads'
const planted =
  'a `ws.config.json` that a command plants in the workspace, changes, removes or exchanges for a link or a pipe, so that the next `ws` there has weaker rules or other mounts'
const file = 'apps/cli/src/optional/load.ts'
const test = 'apps/cli/test/optional.test.ts'
const worktree =
  'a file `.git` that a command has written, in a root that is opened with its repository (`ws exec --with-worktree`): it leads to `/etc`, to the repository of another worktree, through a link or a pipe'
const worktreeFile = 'apps/cli/src/config/worktree.ts'
const worktreeTest = 'apps/cli/test/worktree.test.ts'
const hostPaths = 'apps/cli/src/config/host-paths.ts'
const hostPathsTest = 'apps/cli/test/host-paths.test.ts'

/** For the section "The command line" of docs/threat-model.md. */
export const commandLineMutations: readonly Mutation[] = [
  {
    row: worktree,
    removes: 'the question whether the repository names this worktree',
    file: worktreeFile,
    text: "=== own && basename(back) === '.git'",
    by: "!== '' && basename(back) === '.git'",
    test: { file: worktreeTest, title: 'somebody else' },
  },
  {
    row: worktree,
    removes: 'the flags that follow no link and wait for no pipe',
    file: worktreeFile,
    text: 'constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK',
    by: 'constants.O_RDONLY | constants.O_NONBLOCK',
    test: { file: worktreeTest, title: 'a link in its place' },
  },
  {
    row: worktree,
    removes: 'the look whether the repository lies in the workspace',
    file: worktreeFile,
    text: 'if (inside !== undefined) throw',
    by: 'if (inside !== undefined && own.length === 0) throw',
    test: { file: worktreeTest, title: 'lies in the workspace' },
  },
  {
    row: worktree,
    removes: 'the rule about the rest of the repository',
    file: worktreeFile,
    text: "[at]: 'read-only', [place]",
    by: "[at]: 'read-write', [place]",
    test: { file: worktreeTest, title: 'commands change what a commit changes' },
  },
  {
    row,
    removes: 'the place beside `ws`: the search begins in the working directory',
    changes: [
      {
        file,
        text: 'const own = dirname(dirname(import.meta.dirname))',
        by: "const own = process.cwd() + '/node_modules/@ws/cli'",
      },
      { file, text: '[own, realpathSync(own)]', by: '[own]' },
    ],
    test: { file: test, title: 'from the working directory' },
  },
  {
    row,
    removes: 'the comparison of the entry with the folder beside `ws`',
    file,
    text: 'return [folder, realpathSync(folder)].some((inside) => entry.startsWith(inside + sep)) ? entry : undefined',
    by: 'return entry',
    test: { file: test, title: 'from the working directory' },
  },
  {
    row,
    removes: 'the comparison, where the folder is there and holds something else',
    file,
    text: 'entry.startsWith(inside + sep)',
    by: "entry.startsWith('/')",
    test: { file: test, title: 'holds something else' },
  },
  {
    row,
    removes: 'the end of the search at the directory that holds `ws`',
    file,
    text: "...(basename(above) === 'node_modules' ? [above] : [])]",
    by: "...(basename(above) === 'node_modules' ? [above, join(above, '../../node_modules')] : [])]",
    test: { file: test, title: 'from above' },
  },
  {
    row: planted,
    removes: 'the question whether the user trusts a file that was found',
    file: 'apps/cli/src/config/load.ts',
    text: 'if (!isTrusted(file, content, shown)) throw',
    by: 'if (!isTrusted(file, content, shown) && file === shown) throw',
    test: { file: 'apps/cli/test/find.test.ts', title: 'could have planted' },
  },
  {
    row: planted,
    removes: 'the search for a trusted file that is gone',
    file: 'apps/cli/src/config/find.ts',
    text: 'if (isThere(config) || trustedHash(config) !== undefined) return { config }',
    by: 'if (isThere(config)) return { config }',
    test: { file: 'apps/cli/test/find.test.ts', title: 'moved away' },
  },
  {
    row: planted,
    removes: 'the file of the directory that --root names',
    file: 'apps/cli/src/main.ts',
    text: 'return { config: trusted }',
    by: 'return { config: trusted?.slice(0, 0) || undefined }',
    test: { file: hostPathsTest, title: 'takes the rules of the config file' },
  },
  {
    row: 'a config file that `--config` names and a command has written, under whatever name and link',
    removes: 'the question where the file lies',
    file: hostPaths,
    text: 'if (place && !config.trusted)',
    by: 'if (place === config.file)',
    test: { file: hostPathsTest, title: 'refuses a named config file' },
  },
  {
    row: 'a config file that `--config` names and a command has written, under whatever name and link',
    removes: 'the note of the file that a link leads to',
    file: 'apps/cli/src/config/find.ts',
    text: 'const changed = [own, target].find(',
    by: 'const changed = [own, target].slice(0, 1).find(',
    test: { file: hostPathsTest, title: 'refuses a named config file' },
  },
  ...['the list of trusted files', 'mounts[${index}]', 'the tool ${at}'].map(
    (subject): Mutation => ({
      row: 'a directory that a trusted config file names (a root, a copy, a cache, a tool), exchanged for a link to files of the host; the list of trusted files in a mount; a plan in its own output',
      removes: `the look at \`${subject}\``,
      file: hostPaths,
      text: '    if (found === undefined) continue\n',
      by: `    if (found === undefined || subject.startsWith(${JSON.stringify(subject.split('$')[0])})) continue\n`,
      test: { file: hostPathsTest, title: 'HO7' },
    }),
  ),
  ...[
    {
      file: 'apps/cli/src/terminal/output.ts',
      text: 'await write(terminal ? escapeText(decoder.decode(chunk, { stream: true })) : chunk)',
      by: 'await write(chunk)',
    },
    {
      file: 'apps/cli/src/terminal/escape.ts',
      text: 'return isTTY ? escapeName(name) : name',
      by: 'return isTTY && process.stdout.isTTY ? escapeName(name) : name',
    },
  ].map(
    (change): Mutation => ({
      row: "a name, or content, with characters that act on the user's terminal, or on the order of its text",
      removes: `\`${change.text}\``,
      changes: [change],
      test: { file: 'apps/cli/test/terminal.test.ts', title: 'TL6' },
    }),
  ),
  {
    row: 'secrets and hooks of a directory that is served to an MCP client without a config file',
    removes: 'the rules',
    file: 'apps/cli/src/commands/mcp.ts',
    text: 'rules: protect ? missing',
    by: 'rules: !protect ? missing',
    test: { file: 'apps/cli/test/mcp.test.ts', title: 'keeps hooks' },
  },
]
