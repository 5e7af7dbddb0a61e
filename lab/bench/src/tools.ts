import { createTools, type Toolset } from '@ws/tools'

import { compare, drain, own, repeat, type Report } from './measure.ts'
import { makeFile, makeTree, openSite } from './site.ts'

export async function measureTools(report: Report): Promise<void> {
  await using site = await openSite()
  const { workspace, directory } = site
  await using toolset = createTools(workspace)
  makeFile(`${directory}/small.txt`, `${'x'.repeat(63)}\n`.repeat(64))
  makeFile(`${directory}/large.txt`, `${'y'.repeat(63)}\n`.repeat(16_384))
  const text = 'the quick brown fox\n'.repeat(60)
  makeTree(`${directory}/hay`, [20, 50], (_, file) => (file === 7 ? `${text}needle\n` : text))
  await workspace.write('large.txt', `state 0\n${await workspace.readText('large.txt')}`)

  report(
    await compare('tools', {
      name: 'read 4 KiB (at most 50 µs over)',
      count: 200,
      reference: { name: 'workspace.read', run: repeat(() => workspace.read('small.txt')) },
      ways: [{ name: own, run: repeat(() => call(toolset, { operation: 'read', path: 'small.txt' })) }],
    }),
  )
  let state = 0
  const flip = (): { readonly old: string; readonly new: string } => {
    state += 1
    return { old: `state ${state - 1}\n`, new: `state ${state}\n` }
  }
  report(
    await compare('tools', {
      name: 'replace in 1 MiB',
      count: 5,
      target: 1.5,
      reference: {
        name: 'read and write',
        run: repeat(async () => workspace.write('other.txt', (await workspace.read('large.txt')).bytes)),
      },
      ways: [{ name: own, run: repeat(() => call(toolset, { operation: 'replace', path: 'large.txt', ...flip() })) }],
    }),
  )
  const query = { pattern: 'needle', path: 'hay', literal: true }
  report(
    await compare('tools', {
      name: 'search 1,000 files',
      count: 1,
      target: 1.1,
      reference: { name: 'workspace.search', run: repeat(() => drain(workspace.search('needle', { in: 'hay' }))) },
      ways: [{ name: own, run: repeat(() => call(toolset, { operation: 'search', ...query })) }],
    }),
  )
}

async function call(toolset: Toolset, input: object): Promise<void> {
  const { isError, text } = await toolset.run('file_system', input)
  if (isError) throw new Error(text)
}
