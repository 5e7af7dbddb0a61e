/** @module-tag all */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { createScratchDirectory } from '@ws/test-fixtures'
import { bundleForBrowser, runInPage } from '@ws/test-fixtures/bundle'
import { describe, expect, it } from 'vitest'

import { buildPlayground, withoutNode } from '../../playground/build.ts'

describe('the scripts of the playground', () => {
  it('take at most 1.5 MB of a connection, with jq, which comes with its first use', async () => {
    await using directory = await createScratchDirectory()
    await buildPlayground(directory.path)
    const sizes = ['page.js', 'interpreter.js', 'build/jq.wasm'].map(
      (name) => gzipSync(readFileSync(join(directory.path, name))).length,
    )
    expect(sizes.every((size) => size > 100_000)).toBe(true)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_500_000)
  })

  it('have a sentence of ours for each function of Node that a browser lacks', async () => {
    const bundle = await bundleForBrowser(join(import.meta.dirname, 'of-node.ts'), [], false, withoutNode)
    const messages = (await runInPage(bundle)).found as [name: string, message: string][]
    expect(messages.length).toBeGreaterThan(400)
    const sentence = /^`(.+)` of [a-z_/]+ is not available in a browser; run this workspace on Node$/u
    const others = messages.filter(([name, message]) => sentence.exec(message)?.[1] !== name)
    // the executor opens and closes a descriptor to see whether there are any
    expect(others.map(([name]) => name)).toEqual(['closeSync'])
  })
})
