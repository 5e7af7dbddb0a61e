import { glob } from 'node:fs/promises'
import { join } from 'node:path'

import { rgPath } from '@vscode/ripgrep'

import { compare, drain, own, type Report, type Way } from './measure.ts'
import { makeTree, openSite, runPlainly } from './site.ts'

/** Compares searches of 10,000 files with ripgrep as a process, and a glob with that of Node. */
export async function measureSearch(report: Report): Promise<void> {
  await using site = await openSite()
  const { workspace } = site
  const hay = join(site.directory, 'hay')
  plantHay(hay, 10_000)
  const grep = (...words: string[]) => runPlainly([rgPath, '--no-config', '-uu', '-n', ...words, hay])
  const search = (pattern: string, options?: object) => drain(workspace.search(pattern, { in: 'hay', ...options }))
  const rows = [
    ['search 10,000 files for text', () => grep('-F', 'needle-7'), () => search('needle-7')],
    ['search them for an expression', () => grep('needle-\\d+'), () => search('needle-\\d+', { regex: true })],
    [
      'search them without excluded ones',
      () => grep('-F', '-g', '!**/d1*/**', 'needle-'),
      () => search('needle-', { glob: '!**/d1*/**' }),
    ],
  ] as const
  const measure = async (name: string, reference: Way, run: Way['run']) =>
    report(await compare('search', { name, reference, ways: [{ name: own, run }], count: 1, target: 1.5 }))
  for (const [name, run, ours] of rows) await measure(name, { name: 'ripgrep', run }, ours)
  const plain = { name: 'fs.promises.glob', run: () => drain(glob('**/*.txt', { cwd: hay })) }
  await measure('glob **/*.txt of 10,000 files', plain, () => drain(workspace.glob('hay/**/*.txt')))
}

/** Makes files of 1 KiB in directories of 100; one file of each holds `needle-` and the directory's number. */
export function plantHay(path: string, files: number): void {
  const text = 'the quick brown fox\n'.repeat(50)
  makeTree(path, [files / 100, 100], (directory, file) => (file === 7 ? `${text}needle-${directory}\n` : text))
}
