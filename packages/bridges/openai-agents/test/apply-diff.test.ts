import { createEditor } from '@ws/bridge-openai-agents'
import { openFiles } from '@ws/tests-support/bridges'
import { applyDiff } from '@openai/agents-core'
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

import { generatePatches, type GeneratedPatch } from './support/generated-patches.ts'

const project = new URL('../../../../test-fixtures/sample-project/', import.meta.url)
const names = [
  ...['build_backend/backend.py', 'wordcount/__init__.py', 'wordcount/__main__.py', 'tests/test_wordcount.py'],
  ...['src/words.js', 'src/types.ts', 'src/report.ts', 'test/words.test.js', 'pyproject.toml', 'package.json'],
]

/** The files, and texts with repeated lines: all files of a language, and one file twice. */
async function texts(): Promise<string[]> {
  const files = await Promise.all(names.map((name) => readFile(new URL(name, project), 'utf8')))
  return [...files, files.slice(0, 4).join(''), files.slice(4, 8).join(''), `${files[0]}${files[0]}`]
}

type Outcome = { readonly content: string } | { readonly refusal: string }

function bySdk({ text, diff }: GeneratedPatch): Outcome {
  try {
    return { content: applyDiff(text, diff) }
  } catch (error) {
    return { refusal: (error as Error).message.split('\n')[0] ?? '' }
  }
}

/** Each difference from the SDK that is meant, with its reason. */
const differences: Readonly<Record<string, (own: Outcome, sdk: Outcome, patch: GeneratedPatch) => boolean>> = {
  'a first hunk without an anchor that is found several times is refused: an edit is never a guess [PC23]': (own) =>
    'refusal' in own && /lines of hunk 1 were found [\d,]+ times/u.test(own.refusal) && !own.refusal.includes('below'),
  'lines that the hunk before holds too, and that are found again below it, are refused: both places may be meant': (
    own,
  ) => 'refusal' in own && own.refusal.includes('the first in lines of'),
  'an anchor that is not in the file is refused: the SDK goes on without it where it is alone': (own) =>
    'refusal' in own && own.refusal.includes('the line behind `@@`') && own.refusal.includes('was not found'),
  'an addition without context or anchor is refused: the SDK puts it at the beginning, codex at the end': (own) =>
    'refusal' in own && own.refusal.includes('nothing says where'),
  '`*** End of File` must be true: the SDK takes another place too': (own, _, { kind }) =>
    'refusal' in own && own.refusal.includes('at the end of the file') && kind === 'the end of the file',
  'a patch that changes nothing is refused: the model believes that it did': (own, sdk, { text }) =>
    'refusal' in own &&
    own.refusal.includes('new text at its place already') &&
    'content' in sdk &&
    sdk.content === text,
  'hunks in another order are made where each is found once': (own, sdk, { kind }) =>
    'content' in own && 'refusal' in sdk && kind === 'another order',
  'an anchor may lie in lines of the hunk before, where all is found once': (own, sdk) =>
    'content' in own && 'refusal' in sdk && sdk.refusal.startsWith('Invalid Anchor'),
  'a hunk may repeat the line of its anchor': (own, sdk, { diff }) =>
    'content' in own && 'refusal' in sdk && /^@@ +(\S.*)\n[ -]\s*\1$/mu.test(diff),
  'a hunk may begin with context that the hunk before ended in': (own, sdk, { kind }) =>
    'content' in own && 'refusal' in sdk && kind === 'shared context',
  'a blank line behind the last hunk is left out where the file has none, as codex does': (own, sdk, { kind }) =>
    'content' in own && 'refusal' in sdk && kind === 'a blank line behind',
  'new lines take the indent of the place: the SDK puts them in as they are': (own, sdk, { kind }) =>
    'content' in own && 'content' in sdk && kind === 'another indent' && plain(own.content) === plain(sdk.content),
}

const plain = (text: string): string => text.replaceAll(/[ \t]+/gu, '')

const title = 'applies patches as the SDK does, or differs for a reason that is listed'
it(`[PC23] ${title}`, () => compare(200))
it(`[PC23] ${title}: many`, { tags: ['deep'] }, () => compare(5000))

async function compare(count: number): Promise<void> {
  const workspace = await openFiles({})
  const editor = createEditor(workspace)
  const counts: Record<string, number> = { 'the same': 0 }
  for (const patch of generatePatches(await texts(), count, 20_261_125)) {
    await workspace.write('f', patch.text)
    const result = await editor.updateFile({ type: 'update_file', path: 'f', diff: patch.diff })
    const { status, output = '' } = result ?? {}
    const content = await workspace.readText('f')
    const own: Outcome = status === 'completed' ? { content } : { refusal: output }
    if (status !== 'completed') expect(content).toBe(patch.text)
    const sdk = bySdk(patch)
    const isSame = 'content' in own ? 'content' in sdk && own.content === sdk.content : 'refusal' in sdk
    const reason = isSame ? 'the same' : Object.keys(differences).find((key) => differences[key]?.(own, sdk, patch))
    if (reason === undefined) expect.soft({ ...patch, own, sdk }).toBe('the same, or listed')
    else counts[reason] = (counts[reason] ?? 0) + 1
  }
  expect(counts['the same']).toBeGreaterThan(count / 2)
  // a reason that nothing needs is none
  if (count > 1000) expect(Object.keys(differences).filter((key) => !(key in counts))).toEqual([])
}
