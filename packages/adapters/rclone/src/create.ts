import { type RcloneAdapter, openAdapter } from './adapter.ts'
import { Mount } from './mount/mount.ts'
import { type RcloneAdapterOptions, checkMountOptions } from './options.ts'

/**
 * Mounts a part of a store with rclone and returns an adapter: real commands work in the bucket, without copies.
 * The mount belongs to the adapter: `close()` flushes and unmounts it.
 *
 * @throws WorkspaceError `EINVAL` (options), `ENOTSUP` (rclone or FUSE is missing or too old), `EBACKEND` (credentials,
 * bucket, network), `ENOSPC`, `EROFS`, `ENOTEMPTY`, `EBUSY` (cache or mount point), `ETIMEDOUT`. After an error,
 * no mount remains.
 */
export async function createRcloneAdapter(options: RcloneAdapterOptions): Promise<RcloneAdapter> {
  const checked = checkMountOptions(options)
  options.signal?.throwIfAborted()
  const mount = await Mount.open(checked, options.signal)
  try {
    return await openAdapter(mount, '', (how) => mount.close(how))
  } catch (error) {
    await mount.close()
    throw error
  }
}
