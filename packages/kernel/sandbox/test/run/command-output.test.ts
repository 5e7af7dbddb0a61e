import { describe, expect, it } from 'vitest'

import { createCommandOutput } from '../../src/run/command-output.ts'

const bytes = (text: string) => Buffer.from(text)

describe('createCommandOutput', () => {
  it('gives both streams in the order of the calls, so far and at the end', () => {
    const output = createCommandOutput({ maxOutputBytes: 100 })
    void output.onStderr(bytes('one '))
    expect(output.readers.output()).toMatchObject({ stdout: '', stderr: 'one ', output: 'one ' })
    void output.onStdout(bytes('two '))
    void output.onStderr(bytes('three'))
    const expected = { stdout: 'two ', stderr: 'one three', output: 'one two three', stdoutBytes: 4, stderrBytes: 9 }
    expect(output.readers.output()).toMatchObject(expected)
    expect(output.end()).toEqual({ ...expected, truncated: false })
    void output.onStdout(bytes('late'))
    expect(output.end()).toEqual({ ...expected, truncated: false })
    expect(output.readers.output()).toEqual({ ...expected, truncated: false })
  })

  it('cuts no character by output of the other stream, and loses no byte of a broken one', () => {
    const output = createCommandOutput({ maxOutputBytes: 100 })
    const euro = bytes('€')
    void output.onStdout(euro.subarray(0, 1))
    void output.onStderr(bytes('x'))
    void output.onStdout(euro.subarray(1, 2))
    void output.onStderr(euro.subarray(0, 2))
    void output.onStdout(euro.subarray(2))
    const { output: both, stdout, stderr, stdoutBytes, stderrBytes } = output.end()
    expect({ both, stdout, stderr }).toEqual({ both: 'x€\ufffd', stdout: '€', stderr: 'x\ufffd' })
    expect([stdoutBytes, stderrBytes]).toEqual([3, 3])
  })

  it('keeps the head and the tail of both, whatever each stream keeps', () => {
    const output = createCommandOutput({ maxOutputBytes: 8 })
    const chunk = bytes('abcd')
    void output.onStdout(chunk)
    chunk.fill('x')
    void output.onStderr(bytes('efgh'))
    void output.onStdout(bytes('ij'))
    expect(output.end()).toMatchObject({
      stdout: 'abcdij',
      stderr: 'efgh',
      output: 'abcd\n[… 2 bytes omitted …]\nghij',
      truncated: true,
    })
  })

  it('tells the listener of each chunk before a reader gets it', async () => {
    const told: string[] = []
    const output = createCommandOutput({
      maxOutputBytes: 0,
      onOutput: ({ stream, data }) => told.push(`${stream} ${Buffer.from(data).toString()}`),
    })
    const reading = Array.fromAsync(output.readers.stdout, (chunk) => Buffer.from(chunk).toString())
    void output.onStdout(bytes('a'))
    void output.onStderr(bytes('b'))
    void output.onStdout(bytes(''))
    void output.onStdout(bytes('c'))
    expect(told).toEqual(['stdout a', 'stderr b', 'stdout c'])
    output.end()
    expect((await reading).join('')).toBe('ac')
  })
})
