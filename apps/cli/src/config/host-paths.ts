import { resolve } from 'node:path'

import { quotePath } from '@ws/core'
import { HostPaths } from '@ws/sandbox'

import { UsageError } from '../errors.ts'
import { copyOf } from '../storage/settings.ts'
import { untrusted } from './find.ts'
import type { LoadedConfig } from './load.ts'
import type { MountSettings } from './mounts.ts'
import type { Settings } from './settings.ts'
import { trustDirectory } from './trusted.ts'

/**
 * Refuses a config file that names a path in a directory where commands can create links.
 * Such a directory must not contain the file itself, or the note that the user trusts the file.
 * @param output a further directory that commands can write @throws UsageError
 */
export function refuseExchangeable(
  config: LoadedConfig,
  {
    mounts,
    executorOptions: { bubblewrap, proot, 'sandbox-runtime': runtime },
  }: Pick<Settings, 'mounts' | 'executorOptions'>,
  output?: string,
): void {
  const writable = new Map(
    mounts.filter(({ access }) => access !== 'read-only').map((one) => [identityOf(one), quotePath(one.at)]),
  )
  if (output !== undefined) writable.set(HostPaths.identityAt(resolve(output)), '--output')
  const around = (path: string | undefined, own?: string) =>
    path && HostPaths.directoryOnTheWay(path, (identity) => (identity === own ? undefined : writable.get(identity)))

  const place = around(config.file)
  // @defence names and a command has written: refuses a named config file
  if (place && !config.trusted)
    throw untrusted(config.shown, ` on it, since commands can write where it lies (${place})`)
  const named: [place: string, path: string | undefined, own?: string | undefined][] = [
    ...(config.trusted ? [['the list of trusted files', trustDirectory()] as [string, string]] : []),
    ...mounts.flatMap((mount, index): typeof named => [
      [`mounts[${index}]`, directoryOf(mount), identityOf(mount)],
      [`mounts[${index}].rclone.directory`, mount.storage.kind === 'rclone' ? mount.storage.directory : undefined],
    ]),
    ...[bubblewrap, proot, runtime].flatMap((options): typeof named =>
      (options?.tools ?? []).map(({ host, at = '' }) => [`the tool ${at}`.trim(), host]),
    ),
    ['cgroup', bubblewrap?.cgroup],
    ['cgroup', proot?.cgroup],
  ]
  for (const [subject, path, own] of named) {
    const found = around(path, own)
    if (found === undefined) continue
    const why = `leads into the directory of ${found}, where commands could exchange it`
    throw new UsageError(`--config: ${subject} ${why}; name a directory outside`)
  }
}

/** Refuses a config file in the directory of --root whose rules are for another root. @throws UsageError */
export function refuseOtherRoot({ mounts: [first] = [], directory, shown }: LoadedConfig, root: string): void {
  if (first === undefined) return
  if (
    first.root !== undefined &&
    HostPaths.identityAt(resolve(directory, first.root)) === HostPaths.identityAt(resolve(root))
  )
    return
  throw new UsageError(
    `${shown}, which you trust, has rules for another root; leave --root out there, or name a file with --config too`,
  )
}

export function leadsInto(path: string, directory: string): boolean {
  const own = HostPaths.identityAt(resolve(directory))
  return HostPaths.directoryOnTheWay(resolve(path), (identity) => identity === own || undefined) !== undefined
}

const directoryOf = ({ storage }: MountSettings): string | undefined =>
  storage.kind === 'local' ? storage.root : copyOf(storage)

const identityOf = (mount: MountSettings): string | undefined => HostPaths.identityAt(directoryOf(mount) ?? '')
