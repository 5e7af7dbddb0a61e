import { mkdirSync, writeFileSync } from 'node:fs'

import { contentOf } from './archives.ts'
import type { Outcome } from './executors.ts'
import { type Entry, fixture, type Tree } from './fixture.ts'

export type Verdict =
  | { readonly kind: 'same' }
  /** It said that it would not do it. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'differs'; readonly how: string }

/**
 * Judges an outcome by the reference's.
 *
 * - The exit code and the tree must be equal: names, types, bytes, permissions, targets of links. The members of
 *   archives are compared.
 * - Standard output must be equal byte for byte; where a program lists directories in the disk's own order, its lines
 *   may come in any order.
 * - Standard error must hold the same lines, in any order, since parts of a pipeline write to it at once. An executor's
 *   own programs have their own messages: then it must be empty where the reference's is empty.
 * - A refusal is an error of the executor, with nothing changed; or, for an executor with programs of its own, an exit
 *   code other than 0 with a message, where the reference has another outcome. It must not lose a file.
 */
export function judge(line: string, reference: Outcome, outcome: Outcome, ownPrograms: boolean): Verdict {
  if (outcome.refused !== undefined) {
    const changed = differenceOf(fixture, outcome.tree)
    return changed === undefined
      ? { kind: 'refused', message: outcome.refused }
      : { kind: 'differs', how: `refused, and yet it changed ${changed}` }
  }
  const how = differences(line, reference, outcome, ownPrograms)
  if (how.length === 0) return { kind: 'same' }
  const loud = ownPrograms && outcome.exitCode !== 0 && outcome.stderr !== ''
  const lost = loud ? lostOf(reference.tree, outcome.tree) : undefined
  if (loud && lost === undefined) return { kind: 'refused', message: outcome.stderr.trimEnd() }
  return { kind: 'differs', how: [...how, ...(lost === undefined ? [] : [`it lost ${lost}`])].join('; ') }
}

function differences(line: string, reference: Outcome, outcome: Outcome, ownPrograms: boolean): string[] {
  const how: string[] = []
  if (reference.exitCode !== outcome.exitCode) how.push(`exit code ${outcome.exitCode}, not ${reference.exitCode}`)
  if (!sameText(reference.stdout, outcome.stdout, listsDirectories.test(line)))
    how.push(`output ${show(outcome.stdout)}, not ${show(reference.stdout)}`)
  const sameErrors = ownPrograms
    ? (reference.stderr === '') === (outcome.stderr === '')
    : sameText(reference.stderr, outcome.stderr, true)
  if (!sameErrors) how.push(`error output ${show(outcome.stderr)}, not ${show(reference.stderr)}`)
  const tree = differenceOf(reference.tree, outcome.tree)
  return tree === undefined ? how : [...how, `tree: ${tree}`]
}

/** Programs that list a directory in the order in which the disk has its entries. */
const listsDirectories = /\bfind\b|\bgrep\s+(?:-\S+\s+)*-\w*[rR]|\bls\s+-\w*[fU]|\btar\b|\bdu\b|\bcp -\w*v|\brm -\w*v/

function sameText(left: string, right: string, anyOrder: boolean): boolean {
  if (left === right) return true
  const sorted = (text: string) => text.split('\n').sort().join('\n')
  return anyOrder && sorted(left) === sorted(right)
}

/** The first path that differs, and how. */
function differenceOf(expected: Tree, tree: Tree): string | undefined {
  for (const path of new Set([...Object.keys(expected), ...Object.keys(tree)])) {
    if (!sameEntry(expected[path], tree[path]))
      return `${JSON.stringify(path)} is ${describe(tree[path])}, not ${describe(expected[path])}`
  }
  return undefined
}

/** A path of the fixture that is neither as it was nor as the reference left it. */
function lostOf(expected: Tree, tree: Tree): string | undefined {
  return Object.keys(fixture).find(
    (path) => !sameEntry(fixture[path], tree[path]) && !sameEntry(expected[path], tree[path]),
  )
}

function sameEntry(left: Entry | undefined, right: Entry | undefined): boolean {
  if (left?.type !== 'file' || right?.type !== 'file') return JSON.stringify(left) === JSON.stringify(right)
  return (
    left.mode === right.mode && (left.content === right.content || contentOf(left.content) === contentOf(right.content))
  )
}

function describe(entry: Entry | undefined): string {
  if (entry === undefined) return 'missing'
  if (entry.type === 'link') return `a link to ${show(entry.target)}`
  const mode = entry.mode.toString(8)
  return entry.type === 'file' ? `a file ${mode} ${show(entry.content)}` : `${entry.type} ${mode}`
}

function show(bytes: string): string {
  const text = JSON.stringify(bytes)
  return text.length > 300 ? `${text.slice(0, 300)}… (${bytes.length} bytes)` : text
}

export interface Summary {
  /** How many were run. */
  readonly count: number
  readonly refused: readonly string[]
  readonly differing: readonly string[]
}

const reports = new URL('../../.test-report/commands/', import.meta.url)

/** Lists refusals and differences in `.test-report/commands/NAME.txt` of this package. */
export function writeReport(name: string, { count, refused, differing }: Summary): void {
  mkdirSync(reports, { recursive: true })
  writeFileSync(
    new URL(`${name.replaceAll('/', '_')}.txt`, reports),
    `${count} run, ${refused.length} refused, ${differing.length} differ\n\n## refused\n${refused.join('\n')}\n## differ\n${differing.join('\n')}\n`,
  )
}
