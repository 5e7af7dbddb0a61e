import { posix } from 'node:path'

import { describe, expect, it } from 'vitest'

import type { ToolFiles } from '../src/contract.ts'
import { type Invocation, Output, refusalOf, shellTools, type ToolResult } from '../src/index.ts'

/** The requests of a tool to its host, in order. */
interface Asked {
  readonly refused: string[]
  readonly ran: { readonly words: readonly string[]; readonly cwd: string | undefined }[]
  checks: number
  inputs: number
}

const file = { isFile: true, isDirectory: false, isSymbolicLink: false, mode: 0o644, size: 4, mtime: new Date(0) }
const directory = { ...file, isFile: false, isDirectory: true, mode: 0o755 }

/** A directory `/d` with two files in it. */
const fs = {
  resolvePath: (base: string, path: string) => posix.resolve(base, path),
  readFileBuffer: async (path: string) => Buffer.from(path === '/d/a' ? 'one\n' : 'two\n'),
} as unknown as ToolFiles

function callOf(
  name: string,
  given: readonly string[],
  stdin = '',
): { readonly call: Invocation; readonly asked: Asked } {
  const asked: Asked = { refused: [], ran: [], checks: 0, inputs: 0 }
  const call: Invocation = {
    name,
    given,
    context: { fs, cwd: '/d', stdin, env: new Map(), limits: { maxAwkIterations: 1_000, maxSedIterations: 1_000 } },
    listing: {
      look: async (path) => (path === '/d' ? directory : file),
      readdirWithStats: async () => ['a', 'b'].map((entry) => ({ name: entry, stat: file })),
    },
    host: {
      refuse(subject, reason) {
        asked.refused.push(`${subject}: ${reason}`)
        throw new Error('refused')
      },
      check: () => void asked.checks++,
      noteInput: () => void asked.inputs++,
    },
    async run(words, { cwd } = {}) {
      asked.ran.push({ words, cwd })
      return new Output().result()
    },
  }
  return { call, asked }
}

async function run(call: Invocation): Promise<ToolResult> {
  const tool = shellTools[call.name]
  if (tool === undefined) throw new Error(`there is no ${call.name}`)
  return tool.run(call)
}

describe('[EX1] a tool and its host', () => {
  it('says that it reads standard input, and not where it reads files', async () => {
    const piped = callOf('sort', ['-r'], 'a\nb\n')
    expect(await run(piped.call)).toMatchObject({ stdout: 'b\na\n', exitCode: 0, stdoutKind: 'bytes' })
    expect(piped.asked.inputs).toBe(1)
    const named = callOf('sort', ['-r', 'a', 'b'], 'unread\n')
    expect(await run(named.call)).toMatchObject({ stdout: 'two\none\n' })
    expect(named.asked.inputs).toBe(0)
  })

  it('asks between its pieces of work whether it is to stop', async () => {
    const { call, asked } = callOf('find', ['.'])
    expect(await run(call)).toMatchObject({ stdout: '.\n./a\n./b\n' })
    expect(asked.checks).toBeGreaterThanOrEqual(3)
  })

  it('refuses a form that was not compared, before it writes anything', async () => {
    const { call, asked } = callOf('ls', ['--color=always'])
    await expect(run(call)).rejects.toThrow('refused')
    expect(asked.refused).toEqual(['ls --color: output has no colours here'])
  })

  it('leaves programs to the host, with the directory they run in', async () => {
    const each = callOf('xargs', ['-n1', 'touch'], 'x y\n')
    await run(each.call)
    expect(each.asked.ran.map(({ words }) => words)).toEqual([
      ['touch', 'x'],
      ['touch', 'y'],
    ])
    const found = callOf('find', ['.', '-name', 'b', '-execdir', 'rm', '{}', ';'])
    await run(found.call)
    expect(found.asked.ran).toEqual([{ words: ['rm', './b'], cwd: '/d' }])
  })
})

describe('[EX1] the forms of a tool', () => {
  it('are data, and a call of another form is named with those that work', () => {
    const { rule } = shellTools['sort'] ?? {}
    if (rule === undefined) throw new Error('there is no sort')
    expect(refusalOf('sort', rule, ['-n', 'a'])).toBeUndefined()
    expect(refusalOf('sort', rule, ['-R', 'a'])).toEqual({
      subject: 'sort -R',
      reason: expect.stringMatching(/^use .*-n/u),
    })
    expect(refusalOf('ln', shellTools['ln']?.rule ?? {}, ['a', 'b'])?.reason).toContain('use -s, or cp')
  })
})
