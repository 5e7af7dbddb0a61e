import { openSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import type { Task } from '../src/confine/task.ts'
import { pooledCalls } from '../src/host/calls.ts'
import { putInPlace } from '../src/write/fresh-file.ts'
import { scratch } from './support.ts'

describe('a new file without hard links', () => {
  const failAs = (code: string) => Promise.reject(Object.assign(new Error(code), { code, errno: -1, syscall: 'x' }))

  /** Gives a file of five bytes the name `final`, with a rename of its own. */
  async function place(rename: (temp: string, final: string) => Promise<void>): Promise<string[]> {
    const { path: root } = await scratch()
    const temp = join(root, 'temp')
    writeFileSync(temp, 'whole')
    const calls = { ...pooledCalls(), link: () => failAs('EPERM'), rename }
    const task = { calls, pooled: calls } as unknown as Task
    const file = { directory: { fd: -1, self: root }, temp, fd: openSync(temp, 'r+') }
    const placing = putInPlace(task, file, 'final', 'create')
    await placing.catch((error: unknown) => expect(error).toMatchObject({ code: 'EIO' }))
    return readdirSync(root).map((name) => `${name}: ${readFileSync(join(root, name), 'utf8')}`)
  }

  it('gets its name in one step, and leaves no empty file when that fails', async () => {
    expect(await place(async (temp, final) => renameSync(temp, final))).toEqual(['final: whole'])
    expect(await place(() => failAs('EIO'))).toEqual(['temp: whole'])
  })

  it('keeps another file that came in its place, when that fails', async () => {
    const replaced = async (_: string, final: string) => {
      writeFileSync(`${final}-new`, '')
      renameSync(`${final}-new`, final)
      await failAs('EIO')
    }
    expect(await place(replaced)).toEqual(['final: ', 'temp: whole'])
    const filled = async (_: string, final: string) => {
      writeFileSync(final, 'of another')
      await failAs('EIO')
    }
    expect(await place(filled)).toEqual(['final: of another', 'temp: whole'])
  })
})
