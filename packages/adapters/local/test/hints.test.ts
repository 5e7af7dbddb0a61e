import { paths } from '@ws/core'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { writeFileSync } from 'node:fs'
import { appendFile, link, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

import { createLocalAdapter } from '../src/index.ts'

async function open(path = '/', recursive = true) {
  const scratch = await createScratchDirectory()
  const adapter = await createLocalAdapter({ root: scratch.path })
  onTestFinished(async () => {
    await adapter.close()
    await scratch.remove()
  })
  const hints = await adapter.watch?.(paths.parseMount(path), { recursive })
  return { root: scratch.path, adapter, hints, take: async () => (await hints?.take()) ?? 'anything' }
}

describeWith(component('perl'), '[EF4] the hints of a directory', () => {
  it('name the changed entries, and none without a change', async () => {
    const { root, take } = await open()
    expect(await take()).toEqual(new Set())
    await mkdir(join(root, 'a/b'), { recursive: true })
    await writeFile(join(root, 'a/b/file'), '1')
    expect(await take()).toEqual(new Set(['/a']))
    await appendFile(join(root, 'a/b/file'), '2')
    expect(await take()).toEqual(new Set(['/a/b/file']))
    await rename(join(root, 'a'), join(root, 'c'))
    expect(await take()).toEqual(new Set(['/a', '/c']))
    await writeFile(join(root, 'c/b/file'), '3')
    expect(await take()).toEqual(new Set(['/c/b/file']))
    await link(join(root, 'c/b/file'), join(root, 'link'))
    expect(await take()).toEqual(new Set(['/link']))
    await rm(join(root, 'c'), { recursive: true })
    expect([...(await take())]).toContain('/c')
    expect(await take()).toEqual(new Set())
  })

  it('leave out what is not at, above or below the path', async () => {
    const { root, take } = await open('/later/dir', false)
    await writeFile(join(root, 'other'), '1')
    await mkdir(join(root, 'later/dir'), { recursive: true })
    expect(await take()).toEqual(new Set(['/later']))
    await mkdir(join(root, 'later/dir/sub'))
    expect(await take()).toEqual(new Set(['/later/dir/sub']))
    await writeFile(join(root, 'later/dir/sub/file'), '1')
    expect(await take()).toEqual(new Set())
  })

  it('are `undefined` after more changes than fit, and whole again afterwards', async () => {
    const { root, take } = await open()
    // alternately, because equal changes in a row are one for the kernel
    for (let round = 0; round < 20_000; round++) writeFileSync(join(root, `${round % 7}`), '')
    expect(await take()).toBe('anything')
    expect(await take()).toEqual(new Set())
    await writeFile(join(root, 'last'), '1')
    expect(await take()).toEqual(new Set(['/last']))
  })
})
