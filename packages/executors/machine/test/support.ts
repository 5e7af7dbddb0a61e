import { mkdir, chown } from 'node:fs/promises'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '@ws/core'
import { createMachineExecutor, type Machine } from '@ws/executor-machine'
import { createScratchDirectory } from '@ws/test-fixtures'
import { onTestFinished } from 'vitest'

import { createLocalMachine, type LocalMachine, type LocalMachineOptions } from './local-machine.ts'

export interface Site {
  readonly workspace: Workspace
  readonly machine: LocalMachine
  /** The workspace's root, and its directory on the machine. */
  readonly root: string
}

export interface SiteOptions extends LocalMachineOptions {
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Makes the machine of the executor. Default: the local machine itself. */
  readonly wrap?: (machine: LocalMachine) => Machine
  /** Options for a workspace with this root. */
  readonly workspace?: (root: string) => Partial<WorkspaceOptions>
}

/** A workspace in memory whose commands run on a machine. */
export async function openSite({ files = {}, workspace: more, wrap, ...options }: SiteOptions = {}): Promise<Site> {
  const scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  const root = join(scratch.path, 'machine')
  await mkdir(root)
  if (scratch.owner) await chown(root, scratch.owner.uid, scratch.owner.gid)
  const machine = createLocalMachine({ owner: scratch.owner, ...options })
  const workspace = await createWorkspace({
    mounts: [{ at: root, adapter: () => createMemoryAdapter({ files }) }],
    executors: [createMachineExecutor(wrap?.(machine) ?? machine)],
    ...more?.(root),
  })
  onTestFinished(() => workspace.close())
  return { workspace, machine, root }
}
