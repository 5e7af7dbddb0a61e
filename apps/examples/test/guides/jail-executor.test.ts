/** @module-tag deep */
import { createLocalAdapter } from '@ws/adapter-local'
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { WorkspaceFixture } from '@ws/conformance'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { createJailExecutor } from './jail-executor.ts'

const executor = createJailExecutor({})
const owner = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : undefined

/** Stores on the disk, beside one another, of the user that commands run as. */
async function create(): Promise<WorkspaceFixture> {
  const scratch = await mkdtemp(join(tmpdir(), 'jail-'))
  const names: string[] = []
  const createStore = async (name: string) => {
    // a second store of one name has a place of its own
    const root = join(scratch, String(names.filter((one) => one === name).length), name)
    names.push(name)
    await mkdir(root, { recursive: true })
    for (const path of [scratch, dirname(root), root]) if (owner) await chown(path, owner.uid, owner.gid)
    return createLocalAdapter({ root, owner })
  }
  return { executor, createStore, dispose: () => rm(scratch, { recursive: true }) }
}

testExecutor({ name: 'jail', create, roots: ['/workspace'] })
testWorkspace({ name: 'jail', create, roots: ['/workspace'] })
