import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, type Component } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'

import { openLocalState } from '../../src/state/local.ts'
import type { AttemptKey, StepRecord } from '../../src/state/records.ts'
import type { RunState } from '../../src/state/state.ts'
import { openStoreState } from '../../src/state/store.ts'

/** A place for the state of runs, which several processes may open. */
export interface Place extends AsyncDisposable {
  open(): Promise<RunState>
}

interface Kind<Made> {
  readonly name: string
  readonly needs: readonly Component[]
  make(): Promise<Made>
}

/** Adapters of one store: each call of `at` is another process's adapter on a prefix. */
export interface Store extends AsyncDisposable {
  at(prefix: string): Promise<StorageAdapter>
}

export const stores: readonly Kind<Store>[] = [
  {
    name: 'memory',
    needs: [],
    async make() {
      const made = new Map<string, StorageAdapter>()
      const at = async (prefix: string): Promise<StorageAdapter> => {
        const adapter = made.get(prefix) ?? createMemoryAdapter()
        made.set(prefix, adapter)
        return adapter
      }
      return { at, [Symbol.asyncDispose]: async () => undefined }
    },
  },
  ...(['r2', 'ceph'] as const).map((name) => ({
    name,
    needs: s3Needs(name),
    async make() {
      const server = await sharedS3Server(name)
      const opened: StorageAdapter[] = []
      const at = async (prefix: string): Promise<StorageAdapter> => {
        const client = server.client({ maxAttempts: 1 })
        const adapter = await createS3Adapter({ client, bucket: server.bucket, prefix })
        opened.push(adapter)
        return adapter
      }
      const close = async (): Promise<void> => {
        for (const adapter of opened) await adapter.close()
        await server.close()
      }
      return { at, [Symbol.asyncDispose]: close }
    },
  })),
]

export const places: readonly Kind<Place>[] = [
  {
    name: 'local',
    needs: [],
    async make() {
      const scratch = await createScratchDirectory({ prefix: 'runner-' })
      const open = (): Promise<RunState> => openLocalState({ directory: `${scratch.path}/state`, mounted: [] })
      return { open, [Symbol.asyncDispose]: () => scratch.remove() }
    },
  },
  ...stores.map(({ name, needs, make }) => ({
    name,
    needs,
    async make() {
      const store = await make()
      const open = async (): Promise<RunState> => openStoreState(await store.at('state'))
      return { open, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
    },
  })),
]

/** A record of an attempt. */
export function recordOf(key: Partial<AttemptKey> = {}, more: Partial<StepRecord> = {}): StepRecord {
  return {
    runId: 'run-1',
    stepId: 'one',
    attempt: 1,
    ...key,
    state: 'ended',
    outcome: { state: 'done', attempt: key.attempt ?? 1, files: 0, bytes: 0 },
    entries: [],
    report: { startedAt: 1, endedAt: 2, log: '', decisions: [], diffs: [] },
    ...more,
  }
}

export async function put(adapter: StorageAdapter, path: string, text: string): Promise<void> {
  await adapter.write(paths.parseMount(path), Buffer.from(text), { parents: true })
}

/** Every file of a store with its content. */
export async function filesOf(adapter: StorageAdapter): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { path, type } of adapter.list(paths.parseMount('/'), { recursive: true })) {
    if (type === 'file') found[path] = Buffer.from((await adapter.read(path)).bytes).toString('utf8')
  }
  return found
}
