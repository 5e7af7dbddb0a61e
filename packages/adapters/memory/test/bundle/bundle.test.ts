import { fileURLToPath } from 'node:url'

import { bundleForBrowser, runInPage, runInWorker, runInWorkerd, type BrowserBundle } from '@ws/test-fixtures/bundle'
import { beforeAll, describe, expect, it } from 'vitest'

import { run } from './entry.ts'

describe('a workspace in memory without Node', () => {
  let bundle: BrowserBundle
  let expected = ''

  beforeAll(async () => {
    bundle = await bundleForBrowser(fileURLToPath(new URL('entry.ts', import.meta.url)), ['@ws/source'])
    expected = await run()
  })

  it('[NF4] runs as a bundle among the globals of a page, and finds what Node finds', async () => {
    expect(await runInPage(bundle)).toEqual({ found: expected, left: [] })
    expect(JSON.parse(expected)).toEqual([
      'three\nfóur\n',
      ['/notes', 'directory', 0],
      ['/notes/b.md', 'file', 12],
      ['/long', 'file', 40_003],
      ['/key.pem', 'file', null],
      ['/copy', 'directory', 0],
      ['/copy/b.md', 'file', 12],
      ['/notes/b.md', 2, 1],
      ['/long', 1, 40_001],
      ['/copy/b.md', 2, 1],
      expect.stringContaining('ECONFLICT'),
      expect.stringContaining('denyGlob(*.pem)'),
    ])
  })

  it('[NF4] runs as a bundle in a worker without the globals of Node', async () => {
    expect(await runInWorker(bundle)).toEqual({ found: expected, left: [] })
  })

  it('[NF4] runs as a bundle in workerd, as the workers of Cloudflare do', { tags: ['all'] }, async () => {
    expect(await runInWorkerd(bundle)).toEqual({ found: expected, left: [] })
  })
})
