import { readdirSync, renameSync, writeFileSync } from 'node:fs'

import { describeWith } from '@ws/test-fixtures'
import { expect, it, vi } from 'vitest'

import { at, bytes, failureOf, mountNeeds, openSite, openStore, rcloneOf, readText } from './support.ts'

/** Those that rclone spells in its own way by default. */
const odd = ['a\nb', 'tab\tx', 'escape\u001bx', 'delete\u007fx', '．', '．．', 'full／width']
/** Those that rclone changes in its cache. */
const changed = ['picture␊x', 'directory␡/x', '‛quoted', '‛␊']

describeWith(mountNeeds, 'names on rclone', () => {
  it('[PC21] are the keys, and the same after rclone has read its listing again', { tags: 'all' }, async () => {
    const store = await openStore()
    await store.put('threads/t1/foreign␊x', 'foreign')
    await store.put('threads/t1/foreign\nx', 'other')
    const { adapter, root } = await openSite({}, store)
    for (const name of odd) await adapter.write(at(`/${name}`), bytes(name))
    await adapter.flush()
    await adapter.refresh()
    const all = [...odd, 'foreign␊x', 'foreign\nx'].toSorted()
    expect((await Array.fromAsync(adapter.list(at('/')))).map(({ path }) => path).toSorted()).toEqual(
      all.map((name) => `/${name}`),
    )
    expect(readdirSync(root).toSorted()).toEqual(all)
    expect(await store.keys('threads/t1/')).toEqual(all.map((name) => `threads/t1/${name}`))
    for (const name of odd) expect(await readText(adapter, `/${name}`)).toBe(name)
    expect(await readText(adapter, '/foreign\nx')).toBe('other')
  })

  it('[PC21] are the same when rclone was killed before their upload', { tags: 'all' }, async () => {
    const { adapter, directory, store } = await openSite({ timeouts: { writeBack: 600_000 } })
    for (const name of odd) await adapter.write(at(`/${name}`), bytes(name))
    process.kill(await rcloneOf(directory), 'SIGKILL')
    await vi.waitFor(async () => expect((await adapter.status()).state).not.toBe('ready'), { timeout: 10_000 })
    for (const name of odd) expect(await readText(adapter, `/${name}`)).toBe(name)
    await adapter.flush()
    expect(await store.keys('threads/t1/')).toEqual(odd.toSorted().map((name) => `threads/t1/${name}`))
  })

  it('that rclone changes in its cache get no content and give none; others can be given to their files', async () => {
    const store = await openStore()
    for (const name of changed) await store.put(`threads/t1/${name}`, name)
    const { adapter } = await openSite({}, store)
    await adapter.write(at('/plain'), bytes('plain'))
    const refusal = { code: 'EINVAL', reason: expect.stringContaining('‛'), remedy: expect.stringContaining('`move`') }
    for (const name of changed) {
      const path = at(`/${name}`)
      expect(await failureOf(adapter.read(path))).toMatchObject({ ...refusal, operation: 'read', path })
      expect(await failureOf(adapter.readStream(path))).toMatchObject(refusal)
      expect(await failureOf(adapter.write(path, bytes('other')))).toMatchObject(refusal)
      expect(await failureOf(adapter.append(path, bytes('other')))).toMatchObject(refusal)
      expect(await failureOf(adapter.createDirectory(path))).toMatchObject(refusal)
      expect(await failureOf(adapter.copy(path, at('/copy')))).toMatchObject(refusal)
      expect(await failureOf(adapter.copy(at('/plain'), path))).toMatchObject(refusal)
      expect(await failureOf(adapter.move(at('/plain'), path))).toMatchObject(refusal)
      expect((await adapter.stat(path)).size).toBe(Buffer.byteLength(name))
    }
    await adapter.move(at('/picture␊x'), at('/picture'))
    expect(await readText(adapter, '/picture')).toBe('picture␊x')
    await adapter.delete(at('/‛quoted'))
    await adapter.flush()
    const left = ['directory␡/x', 'picture', 'plain', '‛␊'].map((name) => `threads/t1/${name}`)
    expect(await store.keys('threads/t1/')).toEqual(left)
  })

  it('[PC20] lead nowhere else: a key with a part `..` leads nowhere, and hinders nothing', {
    tags: 'all',
  }, async () => {
    const store = await openStore()
    for (const key of ['../outside', './here', 'd/../../../up', 'd/f']) await store.put(`threads/t1/${key}`, 'foreign')
    const { adapter, root } = await openSite({}, store)
    expect((await Array.fromAsync(adapter.list(at('/')))).map(({ path }) => path)).toEqual(['/d'])
    expect(readdirSync(`${root}/d`)).toEqual(['f'])
    await adapter.delete(at('/d'), { recursive: true })
    await adapter.flush()
    const left = await store.keys('')
    expect(left).toContain('threads/t1/../outside')
    expect(left).not.toContain('threads/t1/d/f')
  })

  it('that are not UTF-8 are not uploaded, and a flush says so', { tags: 'all' }, async () => {
    const { adapter, root, store } = await openSite()
    const name = Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])])
    writeFileSync(name, 'content')
    expect(await failureOf(adapter.flush())).toMatchObject({
      code: 'EBACKEND',
      reason: expect.stringContaining('not UTF-8'),
      remedy: expect.stringContaining('rename it'),
    })
    renameSync(name, `${root}/café`)
    await adapter.flush()
    expect(await store.keys('threads/t1/')).toEqual(['threads/t1/café'])
  })
})
