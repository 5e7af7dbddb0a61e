// Lists the tests of each requirement of docs/requirements.md. Test titles name requirements, as in `[PC7]` or `[PC1–PC4]`.
// Fails if no test of the short tier names a due requirement. `--check` prints problems only.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { packageFolders, tierAt } from '@ws/test-fixtures/report'

import { repositoryRoot } from './lib/run.ts'

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

// tests of the packages run the suites of the conformance kit
const testFiles = [
  `${packageFolders}/test/**/*.ts`,
  'test-fixtures/test/**/*.ts',
  'packages/kernel/conformance/src/**/*.ts',
]

const { ids, notDue } = readRequirements()
const named = new Map<string, string[]>(ids.map((id) => [id, []]))
const shownInShort = new Set<string>()
const problems = [...collectTitles(), ...judge()]

if (!values.check) for (const id of ids) printRequirement(id)
for (const problem of problems) console.error(problem)
const shown = ids.filter((id) => titles(id).length > 0).length
console.log(
  `requirements: ${ids.length} in all, ${shown} named by tests, ${notDue.size} not due, ${problems.length} problems`,
)
process.exitCode = problems.length > 0 ? 1 : 0

function readRequirements(): { ids: readonly string[]; notDue: ReadonlyMap<string, string> } {
  const [text = '', waiting = ''] = readFileSync(join(repositoryRoot, 'docs/requirements.md'), 'utf8').split(
    '\n## Not due',
  )
  const listed = [...text.matchAll(/^- \*\*([A-Z]{2}\d+)\*\* \S/gmu)].map(([, id = '']) => id)
  const reasons = new Map<string, string>()
  for (const [, tag = '', reason = ''] of waiting.matchAll(/^- ([A-Z]{2}\d.*?): (.+)$/gmu)) {
    for (const id of expandTag(tag)) reasons.set(id, reason)
  }
  return { ids: listed, notDue: reasons }
}

/** Expands a tag: `PC7, PC10–PC12` → PC7, PC10, PC11, PC12 */
function expandTag(tag: string): string[] {
  return tag.split(/,\s*/u).flatMap((part) => {
    const [, family, first, last] = /^([A-Z]{2})(\d+)(?:\s*[–-]\s*(?:\1)?(\d+))?$/u.exec(part.trim()) ?? []
    if (family === undefined) return []
    const length = Number(last ?? first) - Number(first) + 1
    return Array.from({ length }, (_, index) => `${family}${Number(first) + index}`)
  })
}

/** Fills {@link named}. Returns tags that no requirement has. */
function collectTitles(): string[] {
  const unknown: string[] = []
  for (const file of globSync(testFiles, { cwd: repositoryRoot }).sort()) {
    const lines = readFileSync(join(repositoryRoot, file), 'utf8').split('\n')
    for (const [index, line] of lines.entries()) {
      const place = `${file}:${index + 1}`
      for (const id of idsInTitle(line)) {
        const places = named.get(id)
        if (places === undefined) unknown.push(`${place}: there is no requirement ${id}`)
        else places.push(`${place}  ${line.trim()}`)
        if (tierAt(lines, index) === 'short') shownInShort.add(id)
      }
    }
  }
  return unknown
}

/** The requirements in a title. Tags count only inside a string, and not in a disabled test. */
function idsInTitle(line: string): string[] {
  if (/^\s*(\/\/|\*|\/\*)|\.(skip|todo)\(/u.test(line)) return []
  const quoted = /['"`].*$/u.exec(line)?.[0] ?? ''
  return [...quoted.matchAll(/\[([A-Z]{2}\d[^\]]*)\]/gu)].flatMap(([, tag = '']) => expandTag(tag))
}

function judge(): string[] {
  const unlisted = [...notDue.keys()].filter((id) => !ids.includes(id))
  const unnamed = ids.filter((id) => !shownInShort.has(id) && !notDue.has(id))
  return [
    ...unlisted.map((id) => `docs/requirements.md: ${id} is said to be not due, but is not a requirement`),
    ...unnamed.map((id) => `${id} is due, and no test of the short tier names it`),
  ]
}

function titles(id: string): readonly string[] {
  return named.get(id) ?? []
}

function printRequirement(id: string): void {
  const reason = notDue.get(id)
  const state = reason === undefined ? 'NO TEST NAMES IT' : `not due yet: needs ${reason}`
  console.log(titles(id).length === 0 ? `${id}: ${state}` : `${id}:`)
  for (const title of titles(id)) console.log(`    ${title}`)
}
