import { globSync, readFileSync } from 'node:fs'

import { namedActs } from './acts-by-name-exceptions.ts'

/** Sources of processes that have more rights than the commands that they start. */
const sources = [
  'packages/{executors/*,adapters/{local,rclone,replica},kernel/{sandbox,tree},agents/{threads,runner,snapshots}}/src/**/*.{ts,pl}',
  'apps/cli/src/**/*.ts',
]

const calls = [
  ...[
    'appendFile',
    'chmod',
    'chown',
    'copyFile',
    'cp',
    'createWriteStream',
    'lchmod',
    'lchown',
    'link',
    'lutimes',
    'mkdir',
  ],
  ...['mkdtemp', 'rename', 'rm', 'rmdir', 'symlink', 'truncate', 'unlink', 'utimes', 'writeFile'],
]
const call = new RegExp(String.raw`(?<![\w.$])(?:${calls.join('|')})(?:Sync)?\(`, 'gu')
/** Perl builtins that change an entry by name. */
const builtin = /(?<![\w$%@{>-])(?:chmod|chown|link|mkdir|rename|rmdir|symlink|truncate|unlink|utime)(?=[ (]["($\w])/gu
const shell = /(?:^|[;&|]\s*)(?:chmod|chown|ln|mkdir|mv|rm|rmdir|touch)\s/gmu

/** Files whose number of calls by name differs from their exception, with the exception if there is one. */
export function unexpectedActs(): { readonly problems: readonly string[]; readonly files: number } {
  const files = sources.flatMap((pattern) => globSync(pattern)).sort()
  const problems: string[] = []
  const seen = new Set<string>()
  for (const file of files) {
    const lines = actsIn(file)
    const expected = namedActs[file]
    seen.add(file)
    if (lines.length === (expected?.acts ?? 0)) continue
    const where = lines.map((line) => `${file}:${line}`).join(' ')
    problems.push(
      expected === undefined
        ? `${where}: acts by a name that a command could exchange; open it without following and act on the descriptor`
        : `${file}: acts by name ${lines.length} times, and its exception says ${expected.acts}: ${where}`,
    )
  }
  for (const file of Object.keys(namedActs))
    if (!seen.has(file)) problems.push(`${file}: has an exception, and is gone`)
  return { problems, files: files.length }
}

function actsIn(file: string): number[] {
  const lines: number[] = []
  const source = readFileSync(file, 'utf8')
  // Operations of adapters and of the virtual executor have the same names, but touch no disk.
  if (!/from '(?:node:)?fs(?:\/promises)?'/u.test(source) && !isPerl(file) && !isShell(file)) return lines
  for (const [index, line] of source.split('\n').entries()) {
    if (/^\s*(?:\*|\/\/|\/\*|#)/u.test(line)) continue
    const text = line.replace(/^(?:export )?(?:async )?function \w+/u, '')
    const found = [...text.matchAll(isPerl(file) ? builtin : call), ...(isShell(file) ? text.matchAll(shell) : [])]
    for (const _act of found) lines.push(index + 1)
  }
  return lines
}

function isPerl(file: string): boolean {
  return file.endsWith('.pl')
}

function isShell(file: string): boolean {
  return file.endsWith('.sh') || file.endsWith('start-guard.ts')
}
