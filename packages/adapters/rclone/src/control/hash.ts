import { type Control, isNotFound } from './client.ts'

/** A file of the store, as rclone names it. */
export interface RemoteFile extends Readonly<Record<string, unknown>> {
  /** The store's part as rclone names it. */
  readonly fs: string
  readonly remote: string
}

/** MD5 of a file in the store, in hexadecimal; `undefined` if the file is missing, or the store has no MD5. */
export async function hashInStore(
  control: Control,
  file: RemoteFile,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const item = await statInStore(control, { ...file, opt: { ...fileOnly, showHash: true, noModTime: true } }, signal)
  return item?.Hashes?.['md5']
}

/** When the store received a file, in milliseconds since the epoch, by the store's clock; `undefined` if the file is missing. */
export async function timeInStore(
  control: Control,
  file: RemoteFile,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const item = await statInStore(control, { ...file, opt: fileOnly }, signal)
  return item?.ModTime === undefined ? undefined : Date.parse(item.ModTime)
}

/** Without `filesOnly`, rclone lists the whole directory of each name that is missing in the store. */
const fileOnly = { filesOnly: true, noMimeType: true }

interface StoredFile {
  readonly Hashes?: Readonly<Record<string, string>>
  readonly ModTime?: string
}

async function statInStore(control: Control, question: RemoteFile, signal: AbortSignal | undefined) {
  try {
    const { item } = await control.call('operations/stat', question, { signal })
    return (item ?? undefined) as StoredFile | undefined
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** The files below directories of the store, with their MD5, if the store knows it. */
export async function listStore(
  control: Control,
  fs: string,
  directories: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string | undefined>> {
  const found = new Map<string, string | undefined>()
  const opt = { ...fileOnly, recurse: true, showHash: true, noModTime: true }
  for (const directory of directories) {
    const question = { fs, remote: directory.replace(/\/$/, ''), opt }
    const { list } = await control
      .call('operations/list', question, { signal, timeout: listMs })
      .catch((error: unknown): { list?: unknown } => {
        if (isNotFound(error)) return {}
        throw error
      })
    for (const { Path, Hashes } of (list ?? []) as (StoredFile & { Path: string })[]) found.set(Path, Hashes?.['md5'])
  }
  return found
}

/** Milliseconds to list a directory with everything below it. */
const listMs = 600_000
