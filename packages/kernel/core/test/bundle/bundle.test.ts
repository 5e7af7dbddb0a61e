import { fileURLToPath } from 'node:url'

import { bundleForBrowser, runInPage, runInWorker, type BrowserBundle } from '@ws/test-fixtures/bundle'
import { beforeAll, describe, expect, it } from 'vitest'

import { run } from './entry.ts'

const here = fileURLToPath(new URL('../..', import.meta.url))

describe('the core without Node', () => {
  let bundle: BrowserBundle
  let expected = ''

  beforeAll(async () => {
    bundle = await bundleForBrowser(fileURLToPath(new URL('entry.ts', import.meta.url)))
    expect(bundle.modules.filter((path) => !path.startsWith(here))).toEqual([])
    expected = await run()
    expect(expected).toContain('denyGlob(*.pem)')
  })

  it('[RU4] imports nothing, and runs as a bundle among the globals of a page', async () => {
    expect(await runInPage(bundle)).toEqual({ found: expected, left: [] })
  })

  it('[RU4] runs as a bundle in a worker without the globals of Node', async () => {
    expect(await runInWorker(bundle)).toEqual({ found: expected, left: [] })
  })
})
