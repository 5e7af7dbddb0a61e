/** @module-tag deep */
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { type WorkspaceError, isWorkspaceError } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { type Change, apply, changesFrom, show } from './sequences.ts'
import { type Store, mountNeeds, openSite, scratch } from './support.ts'

/** Mounts, programs that change a directory of one at once, flushes of each mount, and changes before each flush. */
const [mounts, programs, flushes, changes] = [10, 18, 3, 8] as const
/** Flushes of one moment that may be refused: each names one path. */
const mostRefusals = 40
/** Trees of 100 that may be wrong after a flush without an error, on a busy machine: docs/stores/rclone.md says why. */
const mostWrong = 1

type Tree = Readonly<Record<string, string>>

async function treeAt(root: string): Promise<Tree> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const found = await Promise.all(
    files.map(async (file) => [file.slice(root.length + 1), await readFile(file, 'utf8')]),
  )
  return Object.fromEntries(found.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)))
}

async function treeIn(store: Store, below: string): Promise<Tree> {
  const keys = await store.keys(below)
  return Object.fromEntries(await Promise.all(keys.map(async (key) => [key.slice(below.length), await store.get(key)])))
}

/** As a refusal says: writes a file again, or removes it. */
async function writeAgain(disk: string, root: string, path: string): Promise<void> {
  const text = await readFile(join(disk, path), 'utf8').catch(() => undefined)
  const directory = dirname(join(root, path))
  await mkdir(directory, { recursive: true })
  await writeFile(join(root, path), text ?? '')
  if (text !== undefined) return
  await rm(join(root, path))
  await rmdir(directory).catch(() => undefined) // other files can be there
}

function asError(reason: unknown): WorkspaceError {
  if (isWorkspaceError(reason)) return reason
  throw reason
}

interface Program {
  readonly name: string
  readonly tree: Map<string, string | undefined>
  readonly done: Change[]
}

describeWith(mountNeeds, 'random changes of directories that are renamed', () => {
  it('[RP14] are in the bucket after a flush, which refuses most files that may differ until they are written again', {
    timeout: 3_600_000,
  }, async () => {
    const count = { right: 0, wrong: 0, refused: 0, failed: 0 }
    const seed = Math.floor(Math.random() * 1_000_000)
    for (let mount = 0; mount < mounts; mount += 1) {
      const { adapter, store, root } = await openSite({ timeouts: { writeBack: 1_000 } })
      const disk = await scratch()
      let running = Array.from({ length: programs }, (_, index): Program => {
        return { name: `${mount}-${index}`, tree: new Map(), done: [] }
      })
      for (const { name } of running) for (const place of [root, disk]) await mkdir(join(place, name))
      for (let flush = 0; flush < flushes; flush += 1) {
        const results = await Promise.all(
          running.map(async (program, index) => {
            const next = changesFrom(seed + mount * 1_000 + index * 10 + flush, changes, program.tree)
            program.done.push(...next)
            await apply(join(disk, program.name), next, { pauses: false })
            // rclone forgets an empty directory with the last file beside it: a program sees that
            return await apply(join(root, program.name), next, { pauses: true }).then(
              () => program,
              () => undefined,
            )
          }),
        )
        running = results.filter((program) => program !== undefined)
        count.failed += results.length - running.length
        for (let times = 0; ; times += 1) {
          const refusal = await adapter.flush().then(() => undefined, asError)
          if (refusal === undefined) break
          expect(refusal).toMatchObject({ code: 'EIO', message: expect.stringContaining('write the file again') })
          expect(times).toBeLessThan(mostRefusals)
          count.refused += 1
          await writeAgain(disk, root, refusal.path ?? '')
        }
        for (const { name, done } of running) {
          const stored = await treeIn(store, `threads/t1/${name}/`)
          const wanted = await treeAt(join(disk, name))
          const isRight = JSON.stringify(stored) === JSON.stringify(wanted)
          count[isRight ? 'right' : 'wrong'] += 1
          if (isRight) continue
          console.info(`${show(done)}\n  wanted ${JSON.stringify(wanted)}\n  stored ${JSON.stringify(stored)}`)
          running = running.filter((program) => program.name !== name)
        }
      }
      await adapter.close()
    }
    console.info(`seed ${seed}: ${JSON.stringify(count)}`)
    expect(count.wrong * 100).toBeLessThanOrEqual(count.right * mostWrong)
  })
})
