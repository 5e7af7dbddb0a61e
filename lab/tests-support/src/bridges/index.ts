import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type Workspace, type WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createCheckpoints } from '@ws/snapshots'
import { component, createScratchDirectory, type Component } from '@ws/test-fixtures'
import { onTestFinished } from 'vitest'

export { type Features, testFeatures } from './features.ts'

/** A kind of workspace on which each contract is tested. Bridges behave equally on each, so `npm test` uses one. */
interface Site {
  readonly name: string
  readonly needs: readonly Component[]
  readonly tags: 'all'[]
  readonly processes: boolean
  readonly at: '/' | '/workspace'
  parts(): Promise<{ readonly adapter: StorageAdapter; readonly executors: readonly Executor[] }>
}

export const sites: readonly Site[] = [
  {
    name: 'memory and the virtual executor',
    needs: [],
    tags: [],
    processes: false,
    at: '/',
    parts: async () => ({ adapter: createMemoryAdapter(), executors: [createVirtualExecutor()] }),
  },
  {
    name: 'local and bubblewrap',
    needs: [component('bubblewrap')],
    tags: ['all'],
    processes: true,
    at: '/workspace',
    async parts() {
      const directory = await createScratchDirectory()
      onTestFinished(() => directory.remove())
      const adapter = await createLocalAdapter({ root: directory.path, owner: directory.owner })
      return { adapter, executors: [createBubblewrapExecutor()] }
    },
  },
]

export type Files = Readonly<Record<string, string | Uint8Array>>

/** A small project whose tests fail until `src/answer.txt` says 42. */
export const project: Files = {
  'src/answer.txt': 'answer=41\n',
  'src/more.txt': 'one\ntwo\nthree\n',
  'docs/guide.md': '# Guide\n',
  'test.sh': 'grep -q "answer=42" src/answer.txt && echo "1 passed" || { echo "1 failed"; exit 1; }\n',
}

/** Makes `docs` read-only, and names another place to write to. */
export const protectDocs = rules.subtree({
  name: 'docs-are-written-elsewhere',
  entries: { docs: 'read-only' },
  reason: 'is written by another team',
  remedy: 'write below `notes`',
})

export async function openSite(
  { at, parts }: Site,
  files: Files = {},
  options: Partial<WorkspaceOptions> = {},
): Promise<Workspace> {
  const { adapter, executors } = await parts()
  const filling = await createWorkspace({ mounts: [{ at, adapter }] })
  for (const [path, content] of Object.entries(files)) await filling.write(path, content)
  await filling.close()
  const workspace = await createWorkspace({ mounts: [{ at, adapter }], executors, ...options })
  onTestFinished(() => workspace.close().then(() => adapter.close()))
  return workspace
}

export async function openFiles(files: Files = {}, options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const [memory] = sites
  if (memory === undefined) throw new Error('there is a site')
  return openSite(memory, files, { executors: [], ...options })
}

/** A workspace in memory, with commands, whose changes can be taken back. */
export async function openUndoable(files: Files = {}, options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const [memory] = sites
  if (memory === undefined) throw new Error('there is a site')
  return openSite(memory, files, { checkpoints: createCheckpoints(), ...options })
}
