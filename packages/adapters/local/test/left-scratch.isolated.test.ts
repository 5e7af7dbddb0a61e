import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createScratchAdapter, givenUpScratch } from '@ws/adapter-local'
import { ownMark } from '@ws/adapter-local/internal'
import { expect, it, onTestFinished, vi } from 'vitest'

const tries = vi.hoisted(() => new Map<string, number>())
vi.mock('../src/write/remove.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../src/write/remove.ts')>()
  const removeEntry: typeof original.removeEntry = async (task, parent, name, progress) => {
    if (!String(name).includes('-ended-')) return await original.removeEntry(task, parent, name, progress)
    tries.set(String(name), (tries.get(String(name)) ?? 0) + 1)
    throw Object.assign(new Error('busy'), { code: 'EBUSY', syscall: 'rmdir' })
  }
  return { ...original, removeEntry }
})

it('[HO6] a scratch directory that cannot be removed is tried once, and named', async () => {
  const [system, pid] = ownMark().split('-')
  const left = mkdtempSync(join(tmpdir(), `ws-scratch-${system}-${pid}-ended-`))
  onTestFinished(() => rmSync(left, { recursive: true, force: true }))
  chmodSync(left, 0o700)
  const odd = mkdtempSync(join(tmpdir(), `ws-scratch-${system}-${pid}-ended-;x `))
  onTestFinished(() => rmSync(odd, { recursive: true, force: true }))
  chmodSync(odd, 0o500)
  expect(await givenUpScratch()).not.toContain(left)
  for (let start = 0; start < 3; start += 1) await (await createScratchAdapter()).close()
  expect([...tries.values()]).toEqual([1])
  const named = await givenUpScratch()
  expect(named).toContain(left)
  expect(named).not.toContain(odd)
})
