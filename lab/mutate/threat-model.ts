import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

import { tierAt } from '@ws/test-fixtures/report'

import { repositoryRoot } from '../../scripts/lib/run.ts'
import { readMarkers } from './markers.ts'
import type { Located, Mutation, Mutations, NamedTest } from './types.ts'

interface Row {
  readonly code: readonly string[]
  readonly tests: readonly string[]
}

const page = 'docs/threat-model.md'
const header = '| vector | defence | code | test |'

/** Every row of a table of vectors, by the text of its first cell. */
export function readRows(): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>()
  let inside = false
  for (const line of readSource(page).split('\n')) {
    if (line === header) inside = true
    else if (!line.startsWith('|')) inside = false
    else if (inside && !line.startsWith('| ---')) {
      const [vector = '', , code = '', tests = ''] = line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim())
      rows.set(vector, { code: filesIn(code), tests: filesIn(tests) })
    }
  }
  return rows
}

export function locate(rows: ReadonlyMap<string, Row>, tables: readonly Mutations[]): [Located[], string[]] {
  const all = [...tables, ...readMarkers([...rows.keys()])].flatMap((table) => Object.entries(table))
  const located: Located[] = []
  const problems = [...rows.keys()]
    .filter((vector) => !all.some(([row]) => row === vector))
    .map((vector) => `${page}: no mutation removes the defence of "${vector}"`)
  for (const [vector, mutations] of all) {
    const row = rows.get(vector)
    if (row === undefined) {
      problems.push(`${page} has no row "${vector}"`)
      continue
    }
    for (const mutation of mutations) {
      const found = locateOne(vector, row, mutation)
      located.push(found)
      problems.push(...problemsOf(found, row.tests).map((said) => `mutation "${mutation.removes}": ${said}`))
    }
  }
  return [located, problems]
}

/** Locates a mutation. A file that cannot be determined is ''. */
function locateOne(vector: string, { code, tests }: Row, mutation: Mutation): Located {
  const { removes, title, test } = mutation
  const changes = ('changes' in mutation ? mutation.changes : [mutation]).map((change) => ({
    ...change,
    file: change.file ?? only(code, (source) => source.includes(change.text)),
  }))
  const file = test ?? tests.find((name) => title === undefined || new RegExp(title, 'u').test(readSource(name))) ?? ''
  return { row: vector, removes, changes, test: { file, title } }
}

function problemsOf({ changes, test }: Located, tests: readonly string[]): string[] {
  const problems: string[] = []
  for (const { file, text, by = '' } of changes) {
    const pieces = readSource(file).split(text)
    const first = text.split('\n')[0]
    if (file === '') problems.push(`not one file of its row has its text; add \`file\`: ${first}`)
    else if (pieces.length !== 2)
      problems.push(`its text occurs ${pieces.length - 1} times in ${file}, not once: ${first}`)
    else if (!parses(file, pieces.join(by))) problems.push(`${file} does not parse without it: ${first}`)
  }
  if (test.file === '') problems.push(`not one test of its row fits ${test.title ?? ''}; add \`test\``)
  else if (!tests.includes(test.file)) problems.push(`its row does not name ${test.file}, or there is no such file`)
  else if (!runsInShort(test)) problems.push(`no test of the short tier fits ${test.file} ${test.title ?? ''}`)
  return problems
}

/** Whether a test runs in the short tier. Titles that a suite or a template makes are not in the file: then the file's tier counts. */
function runsInShort({ file, title }: NamedTest): boolean {
  const lines = readSource(file).split('\n')
  const titles = [...lines.keys()].filter(
    (index) => title !== undefined && new RegExp(title, 'u').test(lines[index] ?? ''),
  )
  return (titles.length === 0 ? [0] : titles).some((index) => tierAt(lines, index) === 'short')
}

function parses(file: string, source: string): boolean {
  try {
    if (file.endsWith('.pl')) execFileSync('/usr/bin/perl', ['-c'], { input: source, stdio: 'pipe' })
    else stripTypeScriptTypes(source)
    return true
  } catch {
    return false
  }
}

function filesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/gu)].map(([, file = '']) => file).filter((file) => readSource(file) !== '')
}

function only(files: readonly string[], fits: (source: string) => boolean): string {
  const found = files.filter((file) => fits(readSource(file)))
  return found.length === 1 ? found.join('') : ''
}

function readSource(file: string): string {
  try {
    return readFileSync(join(repositoryRoot, file), 'utf8')
  } catch {
    return ''
  }
}
