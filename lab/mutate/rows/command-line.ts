import type { Mutations } from '../types.ts'

export const commandLineMutations: Mutations = {
  'a file `.git` that a command has written, in a root that is opened with its repository (`ws exec --with-worktree`): it leads to `/etc`, to the repository of another worktree, through a link or a pipe':
    [
      {
        removes: 'the question whether the repository names this worktree',
        text: "=== own && basename(back) === '.git'",
        by: "!== '' && basename(back) === '.git'",
        title: 'somebody else',
      },
      {
        removes: 'the rule about the rest of the repository',
        text: "[at]: 'read-only', [place]",
        by: "[at]: 'read-write', [place]",
        title: 'commands change what a commit changes',
      },
    ],
  'a package with the name of an optional one (`node_modules/@ws/…`), planted in the working directory, in the workspace, in a parent of either, or where `NODE_PATH` leads':
    [
      {
        removes: 'the place beside `ws`: the search begins in the working directory',
        changes: [
          {
            text: "const own = resolve(fileURLToPath(new URL('../..', import.meta.url)))",
            by: "const own = process.cwd() + '/node_modules/@ws/cli'",
          },
          { text: '[own, realpathSync(own)]', by: '[own]' },
        ],
        title: 'from the working directory',
      },
      {
        removes: 'the comparison of the entry with the folder beside `ws`',
        text: 'return [folder, realpathSync(folder)].some((inside) => entry.startsWith(inside + sep)) ? entry : undefined',
        by: 'return entry',
        title: 'from the working directory',
      },
      {
        removes: 'the comparison, where the folder is there and holds something else',
        text: 'entry.startsWith(inside + sep)',
        by: "entry.startsWith('/')",
        title: 'holds something else',
      },
      {
        removes: 'the end of the search at the directory that holds `ws`',
        text: "...(basename(above) === 'node_modules' ? [above] : [])]",
        by: "...(basename(above) === 'node_modules' ? [above, join(above, '../../node_modules')] : [])]",
        title: 'from above',
      },
    ],
  'a `ws.config.json` that a command plants in the workspace, changes, removes or exchanges for a link or a pipe, so that the next `ws` there has weaker rules or other mounts':
    [
      {
        removes: 'the file of the directory that --root names',
        file: 'apps/cli/src/main.ts',
        text: 'return { config: trusted }',
        by: 'return { config: trusted?.slice(0, 0) || undefined }',
        title: 'takes the rules of the config file',
      },
    ],
  'a directory that a trusted config file names (a root, a copy, a cache, a tool), exchanged for a link to files of the host; the list of trusted files in a mount; a plan in its own output':
    [
      {
        removes: 'the look at `the list of trusted files`',
        text: '    if (found === undefined) continue\n',
        by: '    if (found === undefined || subject.startsWith("the list of trusted files")) continue\n',
        title: 'HO7',
      },
      {
        removes: 'the look at `mounts[${index}]`',
        text: '    if (found === undefined) continue\n',
        by: '    if (found === undefined || subject.startsWith("mounts[")) continue\n',
        title: 'HO7',
      },
      {
        removes: 'the look at `the tool ${at}`',
        text: '    if (found === undefined) continue\n',
        by: '    if (found === undefined || subject.startsWith("the tool ")) continue\n',
        title: 'HO7',
      },
    ],
  "a name, or content, with characters that act on the user's terminal, or on the order of its text": [
    {
      removes: '`await write(terminal ? escapeText(decoder.decode(chunk, { stream: true })) : chunk)`',
      changes: [
        {
          text: 'await write(terminal ? escapeText(decoder.decode(chunk, { stream: true })) : chunk)',
          by: 'await write(chunk)',
        },
      ],
      title: 'TL6',
    },
    {
      removes: '`return isTTY ? escapeName(name) : name`',
      changes: [
        {
          text: 'return isTTY ? escapeName(name) : name',
          by: 'return isTTY && process.stdout.isTTY ? escapeName(name) : name',
        },
      ],
      title: 'TL6',
    },
  ],
  'secrets and hooks of a directory that is served to an MCP client without a config file': [
    { removes: 'the rules', text: 'rules: protect ? missing', by: 'rules: !protect ? missing', title: 'keeps hooks' },
  ],
}
