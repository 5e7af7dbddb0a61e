import { createMemoryAdapter } from '@ws/adapter-memory'
import { paths } from '@ws/core'
import { createThreads } from '@ws/threads'
import { pack } from 'tar-stream'
import { describe, expect, it } from 'vitest'

const whole = async (): Promise<Uint8Array> => {
  const archive = pack()
  archive.entry({ name: 'zeros' }, Buffer.alloc(2048))
  archive.finalize()
  return Buffer.concat(await Array.fromAsync(archive as AsyncIterable<Uint8Array>))
}

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700)
}

describe('import', () => {
  it('refuses an archive that is empty, or cut anywhere, and leaves nothing', async () => {
    const threads = await createThreads({ store: createMemoryAdapter(), provision: false })
    const archive = await whole()
    for (const length of [0, 1, 512, 1024, 2560, archive.length - 512, archive.length - 1]) {
      const cut = threads.import('t1', inPieces(archive.subarray(0, length)))
      await expect(cut, String(length)).rejects.toMatchObject({ code: 'EINVAL', reason: /ends too early/ })
    }
    expect(await Array.fromAsync(threads.list())).toEqual([])
    await threads.import('t1', inPieces(archive))
    expect(await Array.fromAsync(threads.list())).toEqual(['t1'])
    await threads.close()
  })

  it('deletes nothing that lies in its place, and says what that is at each door', async () => {
    const files = { '/threads/file': 'kept', '/threads/link': { target: '../kept' }, '/kept/a': 'kept' }
    const store = createMemoryAdapter({ files })
    const threads = await createThreads({ store, provision: false })
    const archive = await whole()
    for (const threadId of ['file', 'link']) {
      const tries = [
        threads.import(threadId, inPieces(archive)),
        Array.fromAsync(threads.export(threadId)),
        threads.open({ threadId, userId: 'u1' }),
        threads.delete(threadId),
        threads.copy(threadId, 'other'),
      ]
      for (const attempt of await Promise.allSettled(tries)) {
        expect(attempt).toMatchObject({ reason: { code: expect.stringMatching(/^(ENOTDIR|EBUSY)$/) as string } })
      }
      await expect(threads.import(threadId, inPieces(archive))).rejects.toMatchObject({
        code: 'ENOTDIR',
        path: threadId,
      })
    }
    const text = async (path: string) => Buffer.from((await store.read(paths.parseMount(path))).bytes).toString()
    expect([await text('/threads/file'), await text('/kept/a')]).toEqual(['kept', 'kept'])
    expect(await store.readSymlink?.(paths.parseMount('/threads/link'))).toBe('../kept')
    await threads.close()
  })
})
