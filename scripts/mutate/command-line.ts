import type { Mutation } from './types.ts'

const row =
  'a package with the name of an optional one (`node_modules/@ws/…`), planted in the working directory, in the workspace, in a parent of either, or where `NODE_PATH` leads'
const planted =
  'a `ws.config.json` that a command plants in the workspace, changes, removes or exchanges for a link or a pipe, so that the next `ws` there has weaker rules or other mounts'
const file = 'apps/cli/src/optional/load.ts'
const test = 'apps/cli/test/optional.test.ts'

/** For the section "The command line" of docs/threat-model.md. */
export const commandLineMutations: readonly Mutation[] = [
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
    changes: [
      {
        file,
        text: 'return [folder, realpathSync(folder)].some((inside) => entry.startsWith(inside + sep)) ? entry : undefined',
        by: 'return entry',
      },
    ],
    test: { file: test, title: 'from the working directory' },
  },
  {
    row,
    removes: 'the comparison, where the folder is there and holds something else',
    changes: [{ file, text: 'entry.startsWith(inside + sep)', by: "entry.startsWith('/')" }],
    test: { file: test, title: 'holds something else' },
  },
  {
    row,
    removes: 'the end of the search at the directory that holds `ws`',
    changes: [
      {
        file,
        text: "...(basename(above) === 'node_modules' ? [above] : [])]",
        by: "...(basename(above) === 'node_modules' ? [above, join(above, '../../node_modules')] : [])]",
      },
    ],
    test: { file: test, title: 'from above' },
  },
  {
    row: planted,
    removes: 'the question whether the user trusts a file that was found',
    changes: [
      { file: 'apps/cli/src/config/load.ts', text: '  checkTrusted(file, content)\n', by: '' },
      {
        file: 'apps/cli/src/config/load.ts',
        text: "import { checkTrusted, shownFile } from './find.ts'",
        by: "import { shownFile } from './find.ts'",
      },
    ],
    test: { file: 'apps/cli/test/find.test.ts', title: 'could have planted' },
  },
  {
    row: planted,
    removes: 'the search for a trusted file that is gone',
    changes: [
      {
        file: 'apps/cli/src/config/find.ts',
        text: 'if (isThere(config) || trustedHash(config) !== undefined) return { config }',
        by: 'if (isThere(config)) return { config }',
      },
    ],
    test: { file: 'apps/cli/test/find.test.ts', title: 'moved away' },
  },
]
