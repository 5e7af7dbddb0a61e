import { paths } from '@ws/core'
import { concurrency, type MountPath } from '@ws/core/adapter'
import type { Task } from '../client/requests.ts'
import { withProgress } from '../delete/delete.ts'
import { deleteBatch, deleteObject, type ListedObject } from '../delete/objects.ts'
import { failure, invalid } from '../errors.ts'
import { versionOf } from '../keys/etag.ts'
import { linkNameOf } from '../keys/names.ts'
import { pagesOf, type ListedKey } from '../listing/pages.ts'
import { hasObjects, headObject } from '../objects/lookup-real.ts'
import { type ObjectState, stateOf } from '../headers/stat.ts'
import type { Store } from '../store/store.ts'
import { copyObject } from './copy-object.ts'

const reported = 1000

interface TreeObject {
  /** The key below the directory. A marker ends in `/`; the directory's own marker is empty. */
  readonly rest: string
  readonly etag: string | undefined
  readonly size: number
}

class Progress {
  readonly completed: string[] = []
  count = 0
  current: string
  state: string

  constructor(current: string, state: string) {
    this.current = current
    this.state = state
  }

  note(path: string): void {
    this.count += 1
    if (this.completed.length < reported) this.completed.push(path)
  }
}

/** Copies every object of a directory, several at once, markers and links included. Returns the copied versions. */
export async function copyTree(
  store: Store,
  from: MountPath,
  to: MountPath,
  { merge, operation }: { readonly merge: boolean; readonly operation: 'move' | 'copy' },
  task: Task,
): Promise<Map<string, string | undefined>> {
  const { keys } = store
  const [source, destination] = [keys.directoryKey(from), keys.directoryKey(to)]
  const copied = new Map<string, string | undefined>()
  const progress = new Progress(
    from,
    `the source is unchanged; the completed part is below \`${to}\`: repeat it, or delete it there`,
  )
  try {
    const waves = paths.isWithin(from, to) ? await overlapping(store, from, to, task) : undefined
    const replaced = merge
      ? await checkMerge(store, waves?.flat() ?? objectsOf(store, from, task), to, task)
      : undefined
    const copyOne = async ({ rest, etag, size }: TreeObject): Promise<void> => {
      const copy = {
        source: entryOf(store, from, rest).path,
        sourceKey: source + rest,
        state: stateOf({ ContentLength: size, ETag: etag }),
        destination: entryOf(store, to, rest).path,
        destinationKey: destination + rest,
      }
      progress.current = copy.destination
      await copyObject(store, copy, { ...task, path: copy.source })
      const other = replaced?.get(rest)
      if (other !== undefined) await deleteObject(store, other.key, { ...task, path: copy.destination }, other.state)
      if (operation === 'move') copied.set(rest, etag)
      progress.note(copy.destination)
      task.until?.extend()
      store.progress({ operation, path: copy.destination, done: progress.count })
    }
    for (const wave of waves ?? [objectsOf(store, from, task)])
      await concurrency.forEachOf(wave, store.concurrency, copyOne)
  } catch (error) {
    throw withProgress(error, task, partialOf(progress))
  }
  store.hints.add(to)
  return copied
}

/** Deletes copied objects that are unchanged. */
export async function deleteCopied(
  store: Store,
  from: MountPath,
  to: MountPath,
  copied: ReadonlyMap<string, string | undefined>,
  task: Task,
): Promise<void> {
  const prefix = store.keys.directoryKey(from)
  const progress = new Progress(
    from,
    `everything was copied to \`${to}\`; the source is still there in part: delete it when nothing there is newer`,
  )
  try {
    let changed: string | undefined
    for await (const page of pagesOf(store, { prefix, flat: false }, task)) {
      const [same, others] = [[] as string[], [] as string[]]
      const objects: ListedObject[] = []
      for (const { rest = '', etag, modifiedAt } of page) {
        const isCopied = copied.has(rest) && versionOf(copied.get(rest)) === versionOf(etag)
        ;(isCopied ? same : others).push(rest)
        if (isCopied) objects.push({ key: prefix + rest, etag, modifiedAt })
      }
      changed ??= others[0]
      if (objects.length > 0) await deleteBatch(store, objects, task)
      task.until?.extend()
      for (const rest of same) progress.note(entryOf(store, from, rest).path)
    }
    if (changed !== undefined) {
      progress.current = entryOf(store, from, changed).path
      throw failure('ECONFLICT', task.operation, progress.current)
    }
  } catch (error) {
    throw withProgress(error, task, partialOf(progress))
  }
  store.hints.remove(from)
}

/**
 * The objects of a directory that is copied over a directory above it. Copies can replace later sources: `b/b/x` becomes `b/x`.
 * So they are copied in waves: an object first, then its replacement.
 */
async function overlapping(store: Store, from: MountPath, to: MountPath, task: Task): Promise<TreeObject[][]> {
  const between = `${paths.relativeTo(from, to).slice(1)}/`
  const waves: TreeObject[][] = []
  for await (const object of objectsOf(store, from, task)) {
    let depth = 0
    while (object.rest.startsWith(between, depth * between.length)) depth += 1
    while (waves.length <= depth) waves.push([])
    waves[depth]?.push(object)
  }
  return waves
}

async function* objectsOf(store: Store, path: MountPath, task: Task): AsyncGenerator<TreeObject, undefined> {
  const prefix = store.keys.directoryKey(path)
  for await (const page of pagesOf(store, { prefix, flat: false }, task)) {
    for (const { rest, shown, etag, size } of page as ListedKey[]) {
      if (rest === undefined) {
        throw invalid(
          task.operation,
          paths.child(path, shown),
          'has a name that is not valid UTF-8, and cannot be copied from here',
        )
      }
      yield { rest, etag, size }
    }
  }
  return undefined
}

interface Replaced {
  readonly key: string
  readonly state: ObjectState
}

/** Refuses a file or link that would hide a directory, or the reverse. Returns replaced objects whose key differs from the new key. */
async function checkMerge(
  store: Store,
  objects: Iterable<TreeObject> | AsyncIterable<TreeObject>,
  to: MountPath,
  task: Task,
): Promise<Map<string, Replaced>> {
  const { keys, links } = store
  const directories = new Set<string>()
  const replaced = new Map<string, Replaced>()
  await concurrency.forEachOf(objects, store.concurrency, async ({ rest }) => {
    const { path, type } = entryOf(store, to, rest)
    const parents: string[] = []
    for (let end = rest.indexOf('/'); end > 0; end = rest.indexOf('/', end + 1)) {
      const parent = rest.slice(0, end)
      if (!directories.has(parent)) parents.push(parent)
      directories.add(parent)
    }
    if (type !== 'directory') {
      if (await hasObjects(store, path, task)) throw failure('directoryInTheWay', task.operation, path)
      const key = type === 'file' ? keys.linkKey(path) : keys.key(path)
      const state = links ? await headObject(store, key, task) : undefined
      if (state !== undefined) replaced.set(rest, { key, state })
    }
    for (const parent of parents) {
      const at = paths.child(to, parent)
      const file = await headObject(store, keys.key(at), task)
      const other = file ?? (links ? await headObject(store, keys.linkKey(at), task) : undefined)
      if (other !== undefined && !(await hasObjects(store, at, task))) throw failure('ENOTDIR', task.operation, at)
    }
  })
  return replaced
}

/** The entry of an object. `rest`: its key below the directory. */
function entryOf(
  { links }: Store,
  directory: MountPath,
  rest: string,
): { readonly path: MountPath; readonly type: 'file' | 'symlink' | 'directory' } {
  if (rest === '') return { path: directory, type: 'directory' }
  if (rest.endsWith('/')) return { path: paths.child(directory, rest.slice(0, -1)), type: 'directory' }
  const last = rest.slice(rest.lastIndexOf('/') + 1)
  const link = links ? linkNameOf(last) : undefined
  if (link === undefined) return { path: paths.child(directory, rest), type: 'file' }
  return { path: paths.child(directory, rest.slice(0, rest.length - last.length) + link), type: 'symlink' }
}

function partialOf({ completed, count, current, state }: Progress): {
  completed: string[]
  completedCount: number
  failedAt: string
  state: string
} {
  return { completed, completedCount: count, failedAt: current, state }
}
