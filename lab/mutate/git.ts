import type { Mutation } from './types.ts'

const row =
  'another name by which git, outside, finds a program to run: `commondir`, `config.worktree`, `remotes`, `.git` as a file, a repository that has another name'
const directories = 'packages/kernel/core/src/commands/binds/git-directories.ts'
const protect = 'packages/kernel/core/src/policy/protect.ts'
const commands = { file: 'packages/executors/bubblewrap/test/git.test.ts', title: 'all at once' }
const files = { file: 'lab/tests-files/test/rules/protect.test.ts', title: 'each name it lists' }

export const gitMutations: readonly Mutation[] = [
  {
    row,
    removes: 'the placeholder for `commondir`',
    file: directories,
    text: "  commondir: { content: '.\\n' },\n",
    test: commands,
  },
  {
    row,
    removes: 'the placeholders for `remotes` and `branches`',
    file: directories,
    text: "  remotes: 'directory',\n  branches: 'directory',\n",
    test: commands,
  },
  {
    row,
    removes: 'the look at repositories of another name',
    file: 'packages/kernel/core/src/commands/binds/tree-walk.ts',
    text: 'one.match(path) !== undefined || one.match(usual) !== undefined',
    by: 'one.match(path) !== undefined',
    test: commands,
  },
  {
    row,
    removes: 'the hold on a file `.git`, in commands',
    file: 'packages/kernel/core/src/commands/binds/tree-walk.ts',
    text: "pattern.match(path, type !== 'directory')",
    by: 'pattern.match(path)',
    test: commands,
  },
  {
    row,
    removes: 'the hold on a file `.git`, at the file API',
    file: 'packages/kernel/core/src/policy/declared-rules.ts',
    text: "pattern.match(path, operation !== 'createDirectory')",
    by: 'pattern.match(path)',
    test: files,
  },
  {
    row,
    removes: '`commondir` from the names that the file API refuses',
    file: protect,
    text: "'*.git/{hooks,config,config.worktree,commondir,remotes,branches}'",
    by: "'*.git/{hooks,config,config.worktree,remotes,branches}'",
    test: files,
  },
  {
    row,
    removes: 'the mode of a file that holds a name',
    file: 'packages/kernel/sandbox/src/reserve/entries.pl',
    text: 'file => 0444 }',
    by: 'file => 0644 }',
    test: { file: 'packages/kernel/sandbox/test/reserve/files.test.ts', title: 'hold their content' },
  },
]
