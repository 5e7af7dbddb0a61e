import { isWorkspaceError, WorkspaceError, type WriteResult } from '@ws/core'
import type { MountPath, AdapterOptions } from '@ws/core/adapter'
import type { Task } from '../client/requests.ts'
import { sleep } from '../client/wait.ts'
import { failure } from '../errors.ts'
import { objectName, type Store } from '../store/store.ts'
import { attributesFor, type Attributes } from '../headers/attributes.ts'
import { withObject } from '../objects/locks.ts'
import { bytesBody, putObject } from '../objects/put.ts'
import { readObject } from './read.ts'

/** Limit in bytes of a file that is rewritten for an append. */
const maxBytes = 256 * 1024 * 1024
const attempts = 50

/** Reads the file, and writes it with the new bytes if it is unchanged. Appends to one file run in turn. */
export async function append(
  store: Store,
  path: MountPath,
  data: Uint8Array,
  { ifVersion }: AdapterOptions.Append,
  task: Task,
): Promise<WriteResult> {
  for (let attempt = 1; ; attempt += 1) {
    const { bytes, version, mode, attributes } = await current(store, path, task)
    if (ifVersion !== undefined && ifVersion !== version) throw failure('ECONFLICT', task.operation, path)
    if (bytes.length + data.length > maxBytes) throw tooLarge(task)
    const whole = new Uint8Array(bytes.length + data.length)
    whole.set(bytes)
    whole.set(data, bytes.length)
    try {
      const put = { key: store.keys.key(path), condition: version, mode, attributes }
      const result = await withObject(objectName(store, put.key), 'shared', task, () =>
        putObject(store, bytesBody(whole), put, task),
      )
      store.hints.addAbove(path)
      return result
    } catch (error) {
      if (ifVersion !== undefined || attempt === attempts || !isWorkspaceError(error, 'ECONFLICT')) throw error
      await sleep(Math.random() * Math.min(1_000, 10 * 2 ** attempt), [task.signal])
      task.signal?.throwIfAborted()
    }
  }
}

async function current(
  store: Store,
  path: MountPath,
  task: Task,
): Promise<{
  readonly bytes: Uint8Array
  readonly version: string
  readonly mode?: number | undefined
  readonly attributes: Attributes
}> {
  try {
    // bytes that may be damaged must not be stored again
    const { bytes, state } = await readObject(store, path, {}, task, { strict: true })
    const { stat, attributes } = state
    return { bytes, version: stat.version, mode: stat.mode, attributes }
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOENT')) throw error
    const attributes = attributesFor(path, undefined, store.defaults)
    return { bytes: new Uint8Array(), version: 'absent', attributes }
  }
}

function tooLarge({ operation, path }: Task): WorkspaceError {
  return new WorkspaceError({
    code: 'EFBIG',
    operation,
    path,
    reason: `would be larger than the ${maxBytes} bytes up to which a file is written again to append to it`,
    remedy: 'write a new file instead',
  })
}
