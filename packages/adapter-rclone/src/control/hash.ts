import { type Control, ControlRefusal } from './client.ts'

/** A file of the store, as rclone names it. */
export interface RemoteFile extends Readonly<Record<string, unknown>> {
  /** The store's part. */
  readonly fs: string
  readonly remote: string
}

/** MD5 of a file in the store, in hexadecimal; `undefined`: it is not there, or the store does not know. */
export async function hashInStore(
  control: Control,
  file: RemoteFile,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const opt = { showHash: true, noModTime: true, noMimeType: true }
  try {
    const { item } = await control.call('operations/stat', { ...file, opt }, { signal })
    const { Hashes } = (item ?? {}) as { readonly Hashes?: Readonly<Record<string, string>> }
    return Hashes?.['md5']
  } catch (error) {
    if (error instanceof ControlRefusal && /not found/i.test(error.message)) return undefined
    throw error
  }
}

/** When the store took a file, in milliseconds since the epoch, by its clock; `undefined`: it is not there. */
export async function timeInStore(
  control: Control,
  file: RemoteFile,
  signal?: AbortSignal,
): Promise<number | undefined> {
  try {
    const { item } = await control.call('operations/stat', { ...file, opt: { noMimeType: true } }, { signal })
    const { ModTime } = (item ?? {}) as { readonly ModTime?: string }
    return ModTime === undefined ? undefined : Date.parse(ModTime)
  } catch (error) {
    if (error instanceof ControlRefusal && /not found/i.test(error.message)) return undefined
    throw error
  }
}
