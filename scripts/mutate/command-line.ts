import type { Mutation } from './types.ts'

const row =
  'a package with the name of an optional one (`node_modules/@ws/…`), planted in the working directory, in the workspace, in a parent of either, or where `NODE_PATH` leads'
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
]
