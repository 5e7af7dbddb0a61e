import type { CheckedOptions } from '../options.ts'
import type { Features } from '../program/features.ts'
import { type Configuration, remoteName } from '../state/configuration.ts'
import { type MountDirectories, mountSource } from '../state/directories.ts'

/** Limit of parallel uploads. Small files spend their time on waiting for answers, not on the transfer. */
const transfers = 16

/** rclone's command line, without the program's name. It names no store and holds no secret: every user can read it. */
export function mountArguments(
  options: CheckedOptions,
  place: MountDirectories,
  { config, passwords }: Configuration,
  features: Features,
): string[] {
  const { owner, readOnly, timeouts, maxCacheBytes } = options
  const isRoot = process.getuid?.() === 0
  return [
    'mount',
    remoteName,
    place.mountPoint,
    ...['--config', config],
    ...['--cache-dir', place.cache],
    // Content is complete on the disk before anything reads or uploads it: seeks, appends and mmap work.
    ...['--vfs-cache-mode', 'full'],
    ...['--vfs-write-back', `${timeouts.writeBack}ms`],
    // The store's listing gives times in milliseconds, but its answer to an upload gives seconds. With the time in the fingerprint, each
    // file would be downloaded again after its upload.
    '--vfs-fast-fingerprint',
    // without this flag, the time of each file costs a request
    '--use-server-modtime',
    ...['--dir-cache-time', `${timeouts.directoryCache}ms`],
    ...['--attr-timeout', `${timeouts.attributeCache}ms`],
    ...['--poll-interval', '0'],
    ...(maxCacheBytes === undefined ? [] : ['--vfs-cache-max-size', `${maxCacheBytes}B`]),
    ...['--transfers', String(transfers)],
    // The cache on the disk is the buffer.
    ...['--buffer-size', '0'],
    // Reading a store that is down fails after seconds, not minutes; uploads go on trying in any case.
    ...['--low-level-retries', '3'],
    ...['--contimeout', '10s'],
    ...['--timeout', '60s'],
    // The modes let programs execute files. The kernel admits only the owner and root.
    ...['--file-perms', '0700'],
    ...['--dir-perms', '0700'],
    '--default-permissions',
    ...(owner === undefined ? [] : ['--uid', String(owner.uid), '--gid', String(owner.gid)]),
    ...(isRoot ? ['--allow-other'] : []),
    ...['--devname', mountSource],
    ...(readOnly ? ['--read-only'] : []),
    ...(features.links ? ['--vfs-links'] : []),
    '--rc',
    ...['--rc-addr', '127.0.0.1:0'],
    ...['--rc-htpasswd', passwords],
    // The log has one line for each upload, by which uploads are counted. A level that is missing at the start cannot be set later.
    features.renames ? '-v' : '-vv',
    '--use-json-log',
  ]
}
