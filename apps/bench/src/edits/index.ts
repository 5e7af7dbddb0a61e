import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { own, summary, type Measurement } from '../measure.ts'
import { makeDirectory, makeFile, openSite } from '../site.ts'
import { readCorpus, type Category, type Row } from './corpus.ts'
import { openApplyDiff, openOwn, openSed, openServerFilesystem, type Editor } from './editors.ts'

interface Counts {
  /** The file is as it should be. A change that is to be refused left it alone. */
  right: number
  /** It said that it did nothing, and did nothing, where a change was to be made. */
  refused: number
  /** The file is not as it should be. */
  wrong: number
}

const file = 'dir/f.txt'

/** The corpus of edits through tools that others offer: how often each one leaves a file that is wrong. */
export async function measureEdits(report: (measurement: Measurement) => void): Promise<void> {
  await using site = await openSite({ at: '/' })
  const { directory, workspace } = site
  makeDirectory(join(directory, 'dir'))
  const editors = [
    openOwn(workspace),
    await openServerFilesystem(directory),
    openApplyDiff(directory),
    openSed(directory),
  ]
  const categories = readCorpus()
  const totals = new Map<Editor, Counts>()
  const lines: string[] = []
  try {
    for (const category of categories) {
      const counted = new Map<Editor, Counts>()
      for (const editor of editors) counted.set(editor, await count(editor, category, directory, lines))
      for (const [editor, counts] of counted) add(totals, editor, counts)
      report(measurementOf(`${category.name}, ${category.rows.length} edits`, counted))
    }
  } finally {
    for (const editor of editors) await editor.close?.()
  }
  const rows = categories.reduce((sum, category) => sum + category.rows.length, 0)
  report({ ...measurementOf(`edits, ${rows} in all`, totals), note: noteOf(totals) })
  if (process.env['WS_EDITS_DETAILS'] === '1') for (const line of lines) console.log(line)
}

async function count(editor: Editor, { name, rows }: Category, directory: string, lines: string[]): Promise<Counts> {
  const counts: Counts = { right: 0, refused: 0, wrong: 0 }
  for (const row of rows) {
    const outcome = await attempt(editor, row, join(directory, file))
    if (outcome === undefined) continue
    counts[outcome] += 1
    if (outcome !== 'right') lines.push(`${editor.name}: ${outcome}: ${name}: ${row.name}`)
  }
  return counts
}

/** `undefined` where the tool has no such change. */
async function attempt(editor: Editor, row: Row, path: string): Promise<keyof Counts | undefined> {
  await rm(path, { force: true })
  if (row.before !== undefined) makeFile(path, row.before)
  const change = row.patch === undefined ? editor.edit?.(file, row.edits ?? []) : editor.patch?.(file, row.patch)
  if (change === undefined) return undefined
  const isRefused = await change.then(
    () => false,
    () => true,
  )
  const after = await readFile(path).catch(() => undefined)
  const isSame = after === undefined ? row.before === undefined : row.before?.equals(after) === true
  if (after === undefined ? row.right.length === 0 : row.right.some((bytes) => bytes.equals(after))) return 'right'
  if (row.isRefused && isSame) return 'right'
  return isRefused && isSame ? 'refused' : 'wrong'
}

function add(totals: Map<Editor, Counts>, editor: Editor, { right, refused, wrong }: Counts): void {
  const total = totals.get(editor) ?? { right: 0, refused: 0, wrong: 0 }
  totals.set(editor, { right: total.right + right, refused: total.refused + refused, wrong: total.wrong + wrong })
}

function measurementOf(name: string, counted: ReadonlyMap<Editor, Counts>): Measurement {
  const figures = [...counted]
    .filter(([, { right, refused, wrong }]) => right + refused + wrong > 0)
    .map(([editor, { wrong }]) => summary(editor.name === '@ws/tools' ? own : editor.name, [wrong]))
  return { section: 'edits', name, against: 'files that are wrong', target: 0, figures }
}

function noteOf(totals: ReadonlyMap<Editor, Counts>): string {
  return [...totals]
    .map(([{ name }, { right, refused, wrong }]) => {
      const all = right + refused + wrong
      return `${name}: ${right} of ${all} right, ${refused} refused, ${wrong} silently wrong`
    })
    .join('; ')
}
