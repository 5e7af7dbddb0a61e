// Proves the threat model: removes each row's defence in a copy of the repository, and runs the test that must fail.
// `--check` only compares rows, mutations and sources. `--list` prints them. Other arguments select rows by their text.
import { parseArgs } from 'node:util'

import { RepositoryCopy, type TestOutcome } from './copy.ts'
import { tables } from './tables.ts'
import { locate, readRows } from './threat-model.ts'
import type { Located, NamedTest } from './types.ts'

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false }, list: { type: 'boolean', default: false } },
  allowPositionals: true,
})

const rows = readRows()
const [mutations, problems] = locate(rows, tables)
for (const problem of problems) console.error(problem)
const chosen = mutations.filter(
  ({ row, removes }) =>
    positionals.length === 0 || positionals.some((part) => row.includes(part) || removes.includes(part)),
)

if (values.list) for (const { row, removes, test } of chosen) console.log(`${row}\n    ${removes}\n    ${test.file}`)
const survivors = values.list || values.check ? 0 : prove(chosen)
console.log(
  `threat model: ${rows.size} rows, ${mutations.length} mutations, ${problems.length} problems, ${survivors} survivors`,
)
process.exitCode = problems.length > 0 || survivors > 0 ? 1 : 0

function prove(list: readonly Located[]): number {
  const copy = new RepositoryCopy()
  const untouched = new Map<string, TestOutcome>()
  let missed = 0
  try {
    for (const mutation of list) {
      const began = Date.now()
      const verdict = judge(copy, mutation, untouched)
      if (verdict !== 'killed') missed += 1
      const seconds = Math.round((Date.now() - began) / 1000)
      console.log(`${verdict}  ${seconds} s  ${mutation.row}: ${mutation.removes} (${mutation.test.file})`)
    }
  } finally {
    copy.close()
  }
  return missed
}

function judge(copy: RepositoryCopy, mutation: Located, untouched: Map<string, TestOutcome>): string {
  const { test } = mutation
  const key = nameOf(test)
  const before = untouched.get(key) ?? copy.runWith([], test)
  untouched.set(key, before)
  if (before.failed > 0 || before.passed === 0) {
    return `UNUSABLE (${before.passed} passed, ${before.failed} failed without the mutation)\n${before.output}\n`
  }
  const after = copy.runWith(mutation.changes, test)
  if (after.failed > 0) return 'killed'
  return after.passed > 0 ? 'SURVIVED' : `BROKEN (no test ran)\n${after.output}\n`
}

function nameOf({ file, title }: NamedTest): string {
  return `${file} ${title ?? ''}`
}
