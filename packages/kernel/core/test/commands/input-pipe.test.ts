import { describe, expect, it } from 'vitest'
import { InputPipe } from '../../src/commands/input-pipe.ts'

const closed = expect.objectContaining({ code: 'ECLOSED' })

describe('the input of a command', () => {
  it('gives what is written in order, a chunk at a time, and resolves when more is asked for', async () => {
    const pipe = new InputPipe()
    const settled: string[] = []
    for (const word of ['one', 'two']) void pipe.writeInput(word).then(() => settled.push(word))
    const reader = pipe[Symbol.asyncIterator]()
    expect(await reader.next()).toEqual({ done: false, value: Uint8Array.from(Buffer.from('one')) })
    expect(settled).toEqual([])
    await reader.next()
    expect(settled).toEqual(['one'])
    const last = reader.next()
    await Promise.resolve()
    expect(settled).toEqual(['one', 'two'])
    pipe.endInput()
    expect(await last).toEqual({ done: true, value: undefined })
  })

  it('is read to its end before it ends, and refuses more at once', async () => {
    const pipe = new InputPipe()
    void pipe.writeInput('kept')
    pipe.endInput()
    await expect(pipe.writeInput('late')).rejects.toEqual(closed)
    expect((await Array.fromAsync(pipe)).map((chunk) => Buffer.from(chunk).toString())).toEqual(['kept'])
  })

  it('rejects all that waits when the command reads no more, whoever says so', async () => {
    for (const end of ['close', 'return'] as const) {
      const pipe = new InputPipe()
      const reader = pipe[Symbol.asyncIterator]()
      const writes = Promise.allSettled([pipe.writeInput('taken'), pipe.writeInput('waiting')])
      await reader.next()
      if (end === 'close') pipe.close()
      else await reader.return?.()
      expect((await writes).map((write) => write.status === 'rejected' && write.reason)).toEqual([closed, closed])
      await expect(pipe.writeInput('late')).rejects.toEqual(closed)
      expect(await reader.next()).toEqual({ done: true, value: undefined })
    }
  })

  it('ends a reader that waits when it is closed', async () => {
    const pipe = new InputPipe()
    const waiting = pipe[Symbol.asyncIterator]().next()
    pipe.close()
    expect(await waiting).toEqual({ done: true, value: undefined })
  })
})
