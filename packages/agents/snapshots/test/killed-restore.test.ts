import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { factsOf } from '@ws/tree/disk'
import { expect, it } from 'vitest'

import { openIndex } from '../src/store/open-index.ts'
import { unifiedDiff } from '../src/worker/unified-diff.ts'
import { ownDirectory, shareEngine, siteOf } from './support/site.ts'

shareEngine()

it('[TL6] a diff shows names in one line', () => {
  const facts = { ...factsOf(statSync('.'), 'file', '1'), unsettled: false }
  const [name, later] = ['/a\nrename from /b', '/c\u202E\u001B[31m']
  const side = (shown: string, mode: number, bytes?: Uint8Array) => ({ name: shown, facts: { ...facts, mode }, bytes })
  const patch = unifiedDiff(side(name, 0o600, Buffer.from('a\n')), side(later, 0o644, Buffer.from('b\n')))
  const sizes = unifiedDiff(side(name, 0o600), side(name, 0o600))
  expect(`${patch}${sizes}`.split('\n').filter((line) => /^(?:rename|mode|Not|---|\+\+\+) ?/u.test(line))).toEqual([
    'rename from /a\\u{a}rename from /b',
    'rename to /c\\u{202e}\\u{1b}[31m',
    'mode of /c\\u{202e}\\u{1b}[31m: 0600 -> 0644',
    '--- "a/a\\nrename from /b"',
    '+++ "b/c\\342\\200\\256\\033[31m"',
    expect.stringMatching(/^Not compared as text: \/a\\u\{a\}rename from \/b: /u),
  ])
})

it('[UN6] a directory that a killed restore has opened up gets its bits back at the next start', async () => {
  const stateDirectory = join(await ownDirectory(), 'kept')
  const first = await siteOf({ stateDirectory })
  mkdirSync(join(first.root, 'shut'))
  await first.workspace.checkpoint()
  await first.workspace.close()
  const database = openIndex(stateDirectory)
  database.run("INSERT INTO loosened SELECT id, '/shut', 365 FROM trees")
  database.close()
  chmodSync(join(first.root, 'shut'), 0o755)
  await siteOf({ root: first.root, stateDirectory })
  expect(statSync(join(first.root, 'shut')).mode & 0o777).toBe(0o555)
})
