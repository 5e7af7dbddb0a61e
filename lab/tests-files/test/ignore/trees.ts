import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'

/** Files by their paths without a slash in front. Those that are not ignore files are empty. */
export type Tree = Readonly<Record<string, string>>

const names = ['a', 'b', 'ab', 'a.c', 'b.c', '.a', 'a b', '#a', '!b', 'a ', 'a*', '[a]', '\\a', 'é']
const literal = ['a', 'a', 'b', 'b', 'c', '.', 'ab', 'a b', '#', '!', 'é']
const wild = ['*', '*', '*', '?', '[ab]', '[a-c]', '\\*', '\\#', '\\!', '\\a', 'a\\ b', '[]a]']
/** Pieces that ripgrep reads otherwise: its classes may match a slash, and have neither names nor escapes; braces are alternatives. */
export const ofGit = [
  '[!a]',
  '[^.]',
  '[[:alpha:]]',
  '[![:digit:]]',
  '{a,b}',
  '[z-a]',
  '[a',
  '[/]',
  '[a\\]b]',
  ' ',
  '\\ ',
  '',
]

const part = (extra: readonly string[]) =>
  fc
    .array(fc.constantFrom(...literal, ...wild, ...extra), { minLength: 1, maxLength: 3 })
    .map((all) => all.join('').replace(/\*{2,}/gu, '*'))

/** Lines of an ignore file. `extra`: pieces that git alone knows. */
const line = (extra: readonly string[]) =>
  fc
    .tuple(
      fc.constantFrom('', '', '', '!', '!', '#'),
      fc.constantFrom('', '', '/', '**/'),
      fc.array(fc.oneof({ weight: 4, arbitrary: part(extra) }, { weight: 1, arbitrary: fc.constant('**') }), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.constantFrom('', '', '/', '/**', '/*'),
      fc.constantFrom('', '', '', ' ', '\r'),
    )
    .map(([sign, start, middle, end, blank]) => `${sign}${start}${middle.join('/')}${end}${blank}`)

const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 }).map((all) => all.join('/'))

interface TreeOptions {
  readonly ignoreFiles: readonly string[]
  /** Pieces of lines that git alone knows. */
  readonly extra?: readonly string[]
}

/** Trees with ignore files here and there. */
export function treesWith({ ignoreFiles, extra = [] }: TreeOptions): fc.Arbitrary<Tree> {
  const ignoring = fc.tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      { weight: 2, arbitrary: path.map((one) => `${dirname(one)}/`) },
    ),
    fc.constantFrom(...ignoreFiles),
    fc.array(line(extra), { minLength: 1, maxLength: 6 }),
  )
  return fc
    .tuple(fc.array(path, { minLength: 5, maxLength: 40 }), fc.array(ignoring, { minLength: 1, maxLength: 4 }))
    .map(([paths, files]) => {
      const tree = new Map<string, string>()
      const all = [
        ...paths.map((one) => [one, ''] as const),
        ...files.map(([at, name, lines]) => [join(at, name), lines.join('\n')] as const),
      ]
      for (const [file, text] of all) {
        const above = [...tree.keys()].some((known) => file.startsWith(`${known}/`) || known.startsWith(`${file}/`))
        if (!above) tree.set(file, text)
      }
      return Object.fromEntries(tree)
    })
}

const run = promisify(execFile)
const quiet = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C.UTF-8', PATH: process.env['PATH'] }

/** The files of a tree that a program does not ignore, sorted. */
async function askedOf(tree: Tree, ask: (directory: string) => Promise<readonly string[]>): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'ws-ignore-'))
  try {
    for (const [file, text] of Object.entries(tree)) {
      await mkdir(join(directory, dirname(file)), { recursive: true })
      await writeFile(join(directory, file), text)
    }
    return (await ask(directory)).toSorted()
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** ripgrep's files, hidden ones too. 1 is its status where there are none. */
export const byRipgrep = (tree: Tree, program = 'rg'): Promise<string[]> =>
  askedOf(tree, async (cwd) => {
    const flags = [
      '--files',
      '--null',
      '--hidden',
      '--no-require-git',
      '--no-ignore-global',
      '--no-ignore-exclude',
      '--no-messages',
      '--no-ignore-parent',
      '--no-config',
    ]
    const { stdout } = await run(program, flags, { cwd, env: quiet }).catch(
      (error: { code: number; stdout: string }) => {
        if (error.code > 2) throw error
        return error
      },
    )
    return stdout.split('\0').filter((file) => file !== '')
  })

/** The files that git would add. */
export const byGit = (tree: Tree): Promise<string[]> =>
  askedOf(tree, async (cwd) => {
    await run('git', ['init', '-q'], { cwd, env: quiet })
    const { stdout } = await run('git', ['ls-files', '-z', '--others', '--exclude-standard'], { cwd, env: quiet })
    return stdout.split('\0').filter((file) => file !== '')
  })
