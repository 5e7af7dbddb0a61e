import { describe, expect, it } from 'vitest'

import { createOutputChannel } from '../../src/run/output-channel.ts'

const mebibyte = new Uint8Array(1 << 20)

describe('an output channel', () => {
  it('keeps what came before the reader, then hands on what comes, to its end', async () => {
    const channel = createOutputChannel()
    void channel.push(Buffer.from('a'))
    const seen: string[] = []
    const reading = (async () => {
      for await (const chunk of channel.output) seen.push(Buffer.from(chunk).toString())
    })()
    await Promise.resolve()
    void channel.push(Buffer.from('b'))
    channel.end()
    await reading
    expect(seen).toEqual(['a', 'b'])
  })

  it('never waits without a reader, and makes the writer wait for a slow one', async () => {
    const alone = createOutputChannel()
    for (let i = 0; i < 5; i++) expect(alone.push(mebibyte)).toBeUndefined()

    const channel = createOutputChannel()
    const reader = channel.output[Symbol.asyncIterator]()
    const waiting = channel.push(mebibyte)
    let released = false
    void waiting?.then(() => (released = true))
    await Promise.resolve()
    expect(released).toBe(false)
    await reader.next()
    await waiting
  })

  it('gives a copy, since the chunk is reused, and keeps the last bytes without a reader', async () => {
    const early = createOutputChannel()
    const window = Buffer.alloc(100, 'a')
    void early.push(window)
    window.fill('b')
    expect((await early.output[Symbol.asyncIterator]().next()).value).toEqual(Buffer.alloc(100, 'a'))
    const late = createOutputChannel()
    for (const byte of 'abcd') void late.push(Buffer.alloc(400_000, byte))
    late.end()
    const kept: Uint8Array[] = []
    for await (const chunk of late.output) kept.push(chunk)
    const whole = Buffer.concat(kept)
    expect(whole.length).toBe(1 << 20)
    expect(whole.subarray(-400_001).toString()).toBe(`c${'d'.repeat(400_000)}`)
  })

  it('gives a reader copies of large chunks too', async () => {
    const channel = createOutputChannel()
    const reader = channel.output[Symbol.asyncIterator]()
    const window = Buffer.alloc(40_000, 'a')
    void channel.push(window)
    window.fill('b')
    expect((await reader.next()).value).toEqual(Buffer.alloc(40_000, 'a'))
  })

  it('lets the writer go on when the reader leaves', async () => {
    const channel = createOutputChannel()
    const reader = channel.output[Symbol.asyncIterator]()
    const waiting = channel.push(mebibyte)
    await reader.return?.()
    await waiting
    expect(channel.push(mebibyte)).toBeUndefined()
    expect((await reader.next()).done).toBe(true)
  })
})
