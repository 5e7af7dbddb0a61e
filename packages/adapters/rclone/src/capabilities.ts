import type { AdapterCapabilities, DriverCapabilities } from '@ws/core/adapter'

import type { CheckedOptions } from './options.ts'
import type { Features } from './program/features.ts'

const longestKey = 1_024

/** The capabilities of a mount, derived from those of the disk. `below`: the adapter's part, `""` or `threads/t1/`. */
export function capabilitiesOf(
  disk: AdapterCapabilities,
  options: CheckedOptions,
  features: Features,
  below: string,
): DriverCapabilities {
  const { section, prefix, readOnly, timeouts } = options
  const isS3 = section['type'] === 's3'
  const above = (prefix === '' ? 0 : Buffer.byteLength(prefix) + 1) + Buffer.byteLength(below)
  return Object.freeze({
    ...disk,
    readOnly,
    symlinks: features.links,
    flush: true,
    // The disk tells changes of this mount only, and other programs change the store.
    watch: false,
    // In the store, a move is a copy and a delete.
    atomicMove: false,
    atomicDirectoryMove: false,
    keepsEmptyDirectories: !isS3 || features.directoryMarkers,
    modes: false,
    // A mount gives every file the same bits. The mount applies a new time only at the upload, and versions here consist of times.
    chmod: false,
    utimes: false,
    maxStaleness: timeouts.directoryCache + timeouts.attributeCache,
    // The path begins with a slash that the key does not have.
    maxPathBytes: isS3 ? Math.min(disk.maxPathBytes, longestKey - above + 1) : disk.maxPathBytes,
  })
}
