/** @module-tag all */
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import type { MountOptions } from '@ws/core'
import { createScratchDirectory, deep, rounds, seededRandom } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { compareWithApi } from './api.ts'
import { openOnDisk } from './disk.ts'
import { makeRuleSet } from './rule-sets.ts'
import type { RuleSet } from './rule-sets.ts'

const seed = Number(process.env['WS_SEED'] ?? (deep ? Math.floor(Math.random() * 2 ** 31) : 20_261_124))

const places = {
  memory: { quick: 300, open: openMemory },
  local: { quick: 30, open: openLocal },
}

type Open = AsyncDisposable & { readonly workspace: Awaited<ReturnType<typeof createWorkspace>> }

async function openMemory(set: RuleSet): Promise<Open> {
  const filesOf = (list: readonly string[]) => Object.fromEntries(list.map((path) => [`/${path}`, 'needle'] as const))
  const mounts: MountOptions[] = [{ at: set.root, adapter: createMemoryAdapter({ files: filesOf(set.files) }) }]
  if (set.mounted.length > 0) {
    const files = filesOf(set.mounted.map((path) => path.slice(2)))
    mounts.push({
      at: `${set.root === '/' ? '' : set.root}/m`,
      adapter: createMemoryAdapter({ files }),
      access: 'read-only',
    })
  }
  const workspace = await createWorkspace({ mounts, rules: set.written })
  return { workspace, [Symbol.asyncDispose]: () => workspace.close() }
}

async function openLocal(set: RuleSet): Promise<Open> {
  const scratch = await createScratchDirectory({ prefix: 'ws-rules-' })
  const workspace = await openOnDisk(set, scratch)
  return {
    workspace,
    async [Symbol.asyncDispose]() {
      await workspace.close()
      await scratch.remove()
    },
  }
}

describe('rule sets drawn by lot', () => {
  it.each(Object.entries(places))(
    `[RU1, RU3, RU4] mean at the file API what a slow model says, over %s (WS_SEED=${seed})`,
    { tags: 'rounds' },
    async (_name, { quick, open }) => {
      console.info(`WS_SEED=${seed}`)
      for (const index of rounds({ quick, seconds: 10 })) {
        const random = seededRandom(seed + index)
        const set = makeRuleSet(random, { forCommands: false })
        await using opened = await open(set)
        await compareWithApi(set, opened.workspace, random).catch((error: unknown) => {
          const shown = JSON.stringify({ index, root: set.root, files: set.files, written: set.written }, undefined, 1)
          expect.fail(`WS_SEED=${seed + index}: ${String(error)}\n${shown}`)
        })
      }
    },
  )
})
