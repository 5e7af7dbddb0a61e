import { createMemoryAdapter } from '@ws/adapter-memory'
import {
  isWorkspaceError,
  paths,
  prefix,
  readOnly,
  WorkspaceError,
  type MountOptions,
  type VirtualPath,
} from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'

import { expandTemplate, type Layout } from '../layout/layout.ts'
import type { ThreadWarning } from '../types.ts'
import type { SharedCopies, UsedCopy } from './copies.ts'
import type { KnownTrees } from './known-trees.ts'

export const skillsPath = '/.solven/skills'
const ticketPath = '/.ticket'

export interface ThreadPlace {
  readonly store: StorageAdapter
  readonly known: KnownTrees
  readonly layout: Layout
  readonly at: VirtualPath
  readonly threadId: string
  readonly userId: string
  readonly ticketId: string | undefined
}

export function mountPointsOf({ userId, ticketId }: ThreadPlace): string[] {
  const points = [`${skillsPath}/system`, `${skillsPath}/${userId}`]
  return ticketId === undefined ? points : [...points, ticketPath]
}

export interface Mounting {
  readonly own: MountOptions['adapter']
  readonly copies: SharedCopies | undefined
}

export interface Mounted {
  readonly mounts: readonly MountOptions[]
  readonly warnings: readonly ThreadWarning[]
  readonly leave: () => Promise<void>
}

export async function mountsOf(
  { store, known, layout, at: root, userId, ticketId }: ThreadPlace,
  { own, copies }: Mounting,
): Promise<Mounted> {
  const warnings: ThreadWarning[] = []
  const used: UsedCopy[] = []
  const shared = { shared: true } as const
  const useCopy = async (name: string, tree: () => StorageAdapter): Promise<StorageAdapter | undefined> => {
    const copy = await copies?.use(name, tree)
    if (copy !== undefined) used.push(copy)
    return copy?.adapter
  }
  const look = async (point: string, path: string, whenMissing: string | undefined): Promise<MountOptions> => {
    const at = paths.join(root, point as MountPath)
    const tree = (place: string): StorageAdapter => prefix(store, place, shared)
    let problem = await known.ask(path, () => problemOf(store, path, { at, whenMissing }))
    let copy: StorageAdapter | undefined
    if (problem === undefined) {
      copy = await useCopy(path, () => tree(path)).catch((error: unknown) => {
        problem = answerOf(error)
        return undefined
      })
    }
    if (problem !== undefined && problem !== '') warnings.push({ path: at, reason: problem })
    if (problem !== undefined) copy = await useCopy(`empty ${point}`, () => createMemoryAdapter())
    if (copy !== undefined) return { at, adapter: copy, access: 'read-only' }
    const place = problem === undefined ? path : await emptyPlace(store, layout, point)
    const adapter = place === undefined ? emptyAdapter : () => readOnly(tree(place), shared)
    return { at, adapter, access: 'read-only' }
  }
  const leave = async (): Promise<void> => {
    await Promise.all(used.map((copy) => copy.leave()))
  }
  const system = expandTemplate(layout.systemSkills, {})
  const ofUser = expandTemplate(layout.userSkills, { user_id: userId })
  const looks = [
    look(`${skillsPath}/system`, system, 'is empty: the store has no skills of the system'),
    look(`${skillsPath}/${userId}`, ofUser, ''),
  ]
  try {
    const skills = await Promise.all(looks)
    const mounts: MountOptions[] = [{ at: root, adapter: own }, ...skills]
    if (ticketId !== undefined)
      mounts.push(await look(ticketPath, expandTemplate(layout.tickets, { ticket_id: ticketId }), undefined))
    return { mounts, warnings, leave }
  } catch (error) {
    await Promise.allSettled(looks) // a running check may still make a copy
    await leave()
    throw error
  }
}

const emptyAdapter = (): StorageAdapter => createMemoryAdapter({ readOnly: true })

/** An empty directory on the disk of the store, since programs see only directories of this machine; `undefined` for other stores. */
async function emptyPlace(store: StorageAdapter, { control }: Layout, at: string): Promise<string | undefined> {
  if (!store.capabilities.hostPath) return undefined
  const path = `${control}/empty/${at.slice(1).replaceAll('/', '-')}`
  await store.createDirectory(paths.parseMount(`/${path}`, 'openThread'), { recursive: true })
  return path
}

/** @throws unless the error is a `WorkspaceError` */
function answerOf(error: unknown): string {
  if (!isWorkspaceError(error)) throw error
  return `is empty: the store answered ${error.code}`
}

async function problemOf(
  store: StorageAdapter,
  path: string,
  { at, whenMissing }: { readonly at: VirtualPath; readonly whenMissing: string | undefined },
): Promise<string | undefined> {
  try {
    const { type } = await store.stat(paths.parseMount(`/${path}`, 'openThread'))
    return type === 'directory' ? undefined : 'is empty: the store has something else than a directory there'
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') return answerOf(error)
    if (whenMissing !== undefined) return whenMissing
    throw new WorkspaceError({
      code: 'ENOENT',
      operation: 'openThread',
      path: at,
      reason: 'does not exist: the store has no such ticket',
      remedy: 'pass the id of a ticket that exists, or leave `ticketId` out',
    })
  }
}
