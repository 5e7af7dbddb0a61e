import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { tierAt } from '@ws/test-fixtures/report'

import { repositoryRoot } from '../../scripts/lib/run.ts'
import { changesOf, type Mutation, type NamedTest } from './types.ts'

/** One line of a table of vectors. */
export interface Row {
  readonly vector: string
  readonly code: string
  readonly tests: string
}

const header = '| vector | defence | code | test |'

/** Reads every table of vectors in docs/threat-model.md. */
export function readRows(): Row[] {
  const lines = readFileSync(join(repositoryRoot, 'docs/threat-model.md'), 'utf8').split('\n')
  const rows: Row[] = []
  let inside = false
  for (const line of lines) {
    if (line === header) inside = true
    else if (!line.startsWith('|')) inside = false
    else if (inside && !line.startsWith('| ---')) {
      const [vector = '', , code = '', tests = ''] = line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim())
      rows.push({ vector, code, tests })
    }
  }
  return rows
}

/** Where rows, mutations and sources do not fit one another. */
export function findProblems(rows: readonly Row[], mutations: readonly Mutation[]): string[] {
  const problems = rows
    .filter(({ vector }) => !mutations.some(({ row }) => row === vector))
    .map(({ vector }) => `docs/threat-model.md: no mutation removes the defence of "${vector}"`)
  for (const mutation of mutations) {
    const row = rows.find(({ vector }) => vector === mutation.row)
    problems.push(...problemsOf(mutation, row).map((problem) => `mutation "${mutation.removes}": ${problem}`))
  }
  return problems
}

function problemsOf(mutation: Mutation, row: Row | undefined): string[] {
  const { row: vector, test } = mutation
  if (row === undefined) return [`docs/threat-model.md has no row "${vector}"`]
  const problems: string[] = []
  for (const { file, text } of changesOf(mutation)) {
    const count = readSource(file).split(text).length - 1
    if (count !== 1) problems.push(`its text occurs ${count} times in ${file}, not once: ${text.split('\n')[0]}`)
  }
  if (!existsSync(join(repositoryRoot, test.file))) problems.push(`there is no ${test.file}`)
  else if (!row.tests.includes(`\`${test.file}\``)) problems.push(`the row "${vector}" does not name ${test.file}`)
  else if (!runsInShort(test)) problems.push(`no test of the short tier fits ${test.file} ${test.title ?? ''}`)
  return problems
}

/** Titles that a suite of the kit or a template makes do not stand in the file: then the tier of the file counts. */
function runsInShort({ file, title }: NamedTest): boolean {
  const lines = readSource(file).split('\n')
  const titles = [...lines.keys()].filter(
    (index) => title !== undefined && new RegExp(title, 'u').test(lines[index] ?? ''),
  )
  return (titles.length === 0 ? [0] : titles).some((index) => tierAt(lines, index) === 'short')
}

function readSource(file: string): string {
  try {
    return readFileSync(join(repositoryRoot, file), 'utf8')
  } catch {
    return ''
  }
}
