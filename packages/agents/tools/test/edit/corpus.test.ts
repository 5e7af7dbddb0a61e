import { readdirSync, readFileSync } from 'node:fs'

import { createTools, type ToolAnswer } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { workspaceWith } from '../support/stores.ts'
import { bytesOf, type CorpusRow } from './corpus-row.ts'

const directory = new URL('corpus/', import.meta.url)
const corpus = readdirSync(directory)
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name.replace('.json', ''), read(name)] as const)

function read(name: string): readonly CorpusRow[] {
  return JSON.parse(readFileSync(new URL(name, directory), 'utf8')) as readonly CorpusRow[]
}

const path = '/dir/f.txt'

/** The call that makes the change of a row, in a workspace that holds its file. */
async function run(row: CorpusRow): Promise<{ answer: ToolAnswer; content: Buffer | undefined }> {
  const { file, edits, patch } = row
  const workspace = await workspaceWith(file === null ? {} : { [path]: bytesOf(file) })
  const toolset = createTools(workspace, { face: patch === undefined ? 'split' : 'openai' })
  const answer =
    patch === undefined
      ? await toolset.run('replace', { path, ...(edits?.length === 1 ? edits[0] : { edits }) })
      : await toolset.run('apply_patch', { type: 'update_file', path, diff: patch })
  const content = (await workspace.exists(path)) ? Buffer.from((await workspace.read(path)).bytes) : undefined
  return { answer, content }
}

describe.each(corpus)('the corpus of edits: %s', (kind, rows) => {
  // one of 5 MB is enough in `npm test`: what takes long has tests of its own
  const tagsOf = (row: CorpusRow): 'all'[] => (kind === 'huge' && row !== rows[0] ? ['all'] : [])
  for (const row of rows) {
    it(`[FS7, PC23] ${row.name}`, { tags: tagsOf(row) }, async () => {
      const { answer, content } = await run(row)
      const wanted = row.expect ?? row.file
      const same = wanted === null ? content === undefined : content?.equals(bytesOf(wanted)) === true
      // a comparison of 5 MB would be shown whole
      if (!same) expect(content?.toString('latin1').slice(0, 2000)).toBe(wanted && bytesOf(wanted).toString('latin1'))
      expect(same, answer.text).toBe(true)
      expect(answer.isError, answer.text).toBe(row.refusal !== undefined)
      if (row.refusal !== undefined) expect(answer.text).toMatch(new RegExp(row.refusal, 'u'))
    })
  }
})

it('has at least 150 edits, each with one expected end', () => {
  const rows = corpus.flatMap(([, all]) => all)
  expect(rows.length).toBeGreaterThanOrEqual(150)
  for (const { name, expect: wanted, refusal, edits, patch } of rows) {
    expect((wanted === undefined) !== (refusal === undefined), name).toBe(true)
    expect((edits === undefined) !== (patch === undefined), name).toBe(true)
  }
})
