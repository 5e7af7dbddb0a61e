import { paths, WorkspaceError } from '@ws/core'
import { LinkSignal, type MountPath } from '@ws/core/adapter'
import { isMissing } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { DamagedBodyError } from '../client/retry.ts'
import { discard } from '../objects/discard.ts'
import { collect, getObject } from '../objects/get.ts'
import { lookUpReal } from '../objects/lookup-real.ts'
import type { ObjectState } from '../headers/stat.ts'
import { settleDoubt, verifierFor } from '../objects/verify.ts'
import type { Store } from '../store/store.ts'

/** A task on a path that may lead through links. */
export interface LinkTask extends Task {
  readonly argument?: LinkSignal['argument'] | undefined
}

export interface FoundLink {
  readonly at: MountPath
  /** The link's target; `undefined` for an invalid target. */
  readonly target: string | undefined
  readonly state: ObjectState
}

/** The link at a path, if no other entry is there. @throws LinkSignal for a link above the path */
export async function linkAt(store: Store, path: MountPath, task: LinkTask): Promise<FoundLink | undefined> {
  const first = await firstLink(store, path, task)
  if (first === undefined || first.at === path) return first
  throw signalFor(first, path, task)
}

/** Looks for links on the path. @throws LinkSignal for the first link; a link at the end counts only with `follow` */
export async function assertNoLink(
  store: Store,
  path: MountPath,
  task: LinkTask,
  { follow }: { readonly follow: boolean },
): Promise<void> {
  if (!store.links) return
  const first = await firstLink(store, follow ? path : paths.parent(path), task)
  if (first !== undefined) throw signalFor(first, path, task)
}

function signalFor(link: FoundLink, path: MountPath, { argument, operation }: LinkTask): LinkSignal {
  const { at } = link
  const target = targetOf(link, operation, path)
  return new LinkSignal({ argument, at, target, rest: path.slice(at.length + 1) })
}

/** @throws `EIO` for a link of another program that has no valid target */
export function targetOf({ at, target }: Pick<FoundLink, 'at' | 'target'>, operation: string, path: string): string {
  if (target !== undefined) return target
  const reason = `leads through the link \`${at}\`, which has no valid target`
  throw new WorkspaceError({ code: 'EIO', operation, path, reason, remedy: 'delete the link' })
}

async function firstLink(store: Store, path: MountPath, task: Task): Promise<FoundLink | undefined> {
  const places: MountPath[] = []
  let place = paths.mountRoot as string
  for (const name of paths.segmentsOf(path)) {
    place = place === '/' ? `/${name}` : `${place}/${name}`
    places.push(place as MountPath)
  }
  const links = await Promise.all(places.map((at) => readLink(store, at, task)))
  for (const link of links) {
    if (link === undefined) continue
    // a directory or file of the same name hides the link
    if ((await lookUpReal(store, link.at, task)) === undefined) return link
    store.report({ kind: 'hidden-link', path: link.at })
  }
  return undefined
}

export async function readLink(store: Store, at: MountPath, task: Task): Promise<FoundLink | undefined> {
  const key = store.keys.linkKey(at)
  try {
    return await store.requests.run(task, async (attempt) => {
      const opened = await getObject(store, key, attempt)
      const { state } = opened
      if (state.stat.size > paths.maxPathBytes) {
        discard(opened.body)
        return { at, target: undefined, state }
      }
      const verifier = verifierFor(state, store.dialect)
      const bytes = await collect(opened, attempt, (chunk) => verifier?.update(chunk))
      const { verdict } = (await verifier?.verdict()) ?? {}
      const settled = verdict === 'doubtful' ? settleDoubt(bytes, state, store.dialect) : verdict
      if (settled === 'wrong') throw new DamagedBodyError('the checksum differs')
      const text = new TextDecoder().decode(bytes)
      return { at, target: text === '' || text.includes('\0') ? undefined : text, state }
    })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
