import { open as openFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { deep, describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { at, failureOf, mountNeeds, open, openSite, readText, storeThatHangs, write } from './support.ts'

describeWith(mountNeeds, 'what is in the store', () => {
  it('[RP7, RP14] flush is a barrier: what was written before, here or by a command, is in the bucket', async () => {
    const { adapter, store, root } = await openSite({ timeouts: { writeBack: 1_000 } })
    for (let index = 0; index < 20; index += 1) {
      await write(adapter, `/api/${index}`, `by the API ${index}`)
      await writeFile(join(root, `command-${index}`), `by a command ${index}`)
    }
    await rename(join(root, 'command-0'), join(root, 'renamed'))
    expect((await adapter.status()).dirtyFiles).toBeGreaterThan(0)
    await adapter.flush()
    expect((await adapter.status()).dirtyFiles).toBe(0)
    expect(await store.keys()).toHaveLength(40)
    expect(await store.get('threads/t1/api/7')).toBe('by the API 7')
    expect(await store.get('threads/t1/renamed')).toBe('by a command 0')
  })

  it('[RP14] what a command renamed or deleted while it was uploaded has its new name after a flush, and the old one is gone', {
    tags: 'rounds',
  }, async () => {
    const writeBack = 20
    const { adapter, store, root } = await openSite({ timeouts: { writeBack } })
    const names = Array.from({ length: deep ? 600 : 45 }, (_, index) => String(index).padStart(3, '0'))
    for (const [index, name] of names.entries()) {
      await writeFile(join(root, `old-${name}`), `content ${name}`)
      await delay(writeBack - 3 + (index % 15)) // just when its upload begins, runs or ends
      if (index % 3 === 0) await rm(join(root, `old-${name}`))
      else await rename(join(root, `old-${name}`), join(root, `new-${name}`))
    }
    await adapter.flush()
    const renamed = names.filter((_, index) => index % 3 !== 0)
    expect(await store.keys()).toEqual(renamed.map((name) => `threads/t1/new-${name}`))
    for (const name of renamed) expect(await store.get(`threads/t1/new-${name}`)).toBe(`content ${name}`)
  })

  it('[RP14] a flush asks for each file that went with few questions, whatever else its directory holds', async () => {
    const { store, proxy } = await storeThatHangs()
    const { adapter, root } = await openSite({ timeouts: { writeBack: 1 } }, store)
    const names = Array.from({ length: 20 }, (_, index) => join(root, `gone-${index}`))
    for (const name of names) {
      await writeFile(name, 'x')
      await delay(5) // its upload may have begun
      await rm(name)
    }
    const { requests } = await proxy.record(() => adapter.flush())
    const asked = requests.filter(({ operation }) => operation === 'HeadObject')
    expect(asked.length).toBeGreaterThan(0)
    // the store takes the longer for a listing, the more there is
    expect(requests.filter(({ method, key }) => method === 'GET' && key === '')).toEqual([])
  })

  /** Moves `/from` to `/to` while the store copies the old content, takes the new one, and only then says that it has copied. */
  async function moveIntoUpload(more: Readonly<Record<string, string>>) {
    const { store, setFaults, answer } = await storeThatHangs()
    const { adapter, root } = await openSite({ timeouts: { writeBack: 20 } }, store)
    // a directory that the store does not know as such
    for (const [path, content] of Object.entries({ '/d/other': 'x', '/from': 'old', ...more }))
      await write(adapter, path, content)
    await adapter.flush()
    // a move waits for an upload for one second; the copy ends after the upload, however late it began
    const uploadMs = 3_000
    let uploaded = 0
    setFaults(({ operation }) => {
      const now = performance.now()
      if (operation === 'CopyObject') return { kind: 'slow', ms: Math.max(0, uploaded - now) + 500 }
      if (operation !== 'PutObject') return undefined
      uploaded = now + uploadMs
      return { kind: 'delay', ms: uploadMs }
    })
    await writeFile(join(root, 'from'), 'newer content')
    await expect.poll(async () => (await adapter.status()).uploads?.running, { interval: 5, timeout: 10_000 }).toBe(1)
    const moved = adapter.move(at('/from'), at('/to'), { overwrite: true })
    await moved.catch(() => undefined)
    answer()
    return { adapter, store, moved }
  }

  it('[RP14] a move that meets the upload of its file takes place, and the two names are two files afterwards', async () => {
    const { adapter, store, moved } = await moveIntoUpload({})
    await moved
    expect(await failureOf(adapter.stat(at('/from')))).toMatchObject({ code: 'ENOENT' })
    expect(await readText(adapter, '/to')).toBe('newer content')
    await adapter.flush()
    expect(await store.keys()).toEqual(['threads/t1/d/other', 'threads/t1/to'])
    expect(await store.get('threads/t1/to')).toBe('newer content')
    await adapter.delete(at('/to'))
    await write(adapter, '/from', 'another')
    await adapter.flush()
    expect(await store.keys()).toEqual(['threads/t1/d/other', 'threads/t1/from'])
    expect(await failureOf(adapter.stat(at('/to')))).toMatchObject({ code: 'ENOENT' })
  }, 120_000)

  it('[RP14] a move that meets the upload of its file and would replace another one fails, and keeps its content', async () => {
    const { adapter, moved } = await moveIntoUpload({ '/to': 'to be replaced' })
    expect(await failureOf(moved)).toMatchObject({ code: 'EIO', operation: 'move' })
    await adapter.recover()
    expect(await readText(adapter, '/from')).toBe('newer content')
  }, 120_000)

  it('a flush right after close(2) waits for a file that rclone has not heard of yet', async () => {
    const { adapter, store, root } = await openSite()
    for (let round = 0; round < 15; round += 1) {
      const content = `round ${round}`
      await writeFile(join(root, 'a'), content)
      await adapter.flush()
      expect(await store.get('threads/t1/a')).toBe(content)
    }
  })

  it('says that a file is open for writing, and names it, instead of “flushed”', async () => {
    const { adapter, store, root } = await openSite()
    const file = await openFile(join(root, 'log.txt'), 'w')
    onTestFinished(() => file.close())
    await file.write('first line\n')
    expect(await failureOf(adapter.flush())).toMatchObject({ code: 'EBUSY', path: '/log.txt', operation: 'flush' })
    await file.close()
    await adapter.flush()
    expect(await store.get('threads/t1/log.txt')).toBe('first line\n')
  })

  it('an aborted flush ends with the reason', async () => {
    const { adapter } = await openSite({ timeouts: { writeBack: 1_500, flush: 20_000 } })
    await write(adapter, '/a', 'x')
    const reason = new Error('enough')
    const controller = new AbortController()
    const flushed = adapter.flush({ signal: controller.signal })
    setImmediate(() => controller.abort(reason))
    await expect(flushed).rejects.toBe(reason)
  })

  it('closing flushes; the next mount of the same part finds everything', async () => {
    const { adapter, store, options } = await openSite({ timeouts: { writeBack: 1_000 } })
    await write(adapter, '/a', 'kept')
    await adapter.close()
    expect(await store.get('threads/t1/a')).toBe('kept')
    expect(await readText(await open(options), '/a')).toBe('kept')
  })

  it('[RP14] a store that is down is said to be, never “flushed”; when it is back, everything goes there', async () => {
    const { store, setFaults, answer } = await storeThatHangs()
    const { adapter, root } = await openSite({}, store)
    await write(adapter, '/before', 'x')
    await adapter.flush()
    setFaults(() => ({ kind: 'reset', when: 'before' }))
    await write(adapter, '/during', 'written while the store was down')
    const error = await failureOf(adapter.flush({ timeout: 2_000 }))
    expect(error).toMatchObject({ code: 'EBACKEND', operation: 'flush' })
    expect(error.message).not.toContain(store.bucket)
    expect((await adapter.status()).dirtyFiles).toBe(1)
    expect(await readText(adapter, '/during')).toBe('written while the store was down')
    answer()
    await adapter.flush()
    expect(await store.get('threads/t1/during')).toBe('written while the store was down')
    expect(await readFile(join(root, 'during'), 'utf8')).toBe('written while the store was down')
  })

  it('refresh shows what others changed in the bucket before, content too', async () => {
    const { adapter, store, root } = await openSite({ timeouts: { directoryCache: 600_000 } })
    await store.put('threads/t1/there', 'old')
    await adapter.refresh()
    expect(await readText(adapter, '/there')).toBe('old')
    await store.put('threads/t1/there', 'new')
    await store.put('threads/t1/dir/more', 'more')
    await adapter.refresh()
    expect(await readText(adapter, '/there')).toBe('new')
    expect(await readFile(join(root, 'dir/more'), 'utf8')).toBe('more')
    expect((await Array.fromAsync(adapter.list(at('/')))).map(({ name }) => name).sort()).toEqual(['dir', 'there'])
  })
})
