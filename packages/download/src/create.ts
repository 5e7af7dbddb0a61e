import { WorkspaceError } from '@ws/core'
import { checkOptions, durationShape, option, type OptionShapes } from '@ws/core/options'
import { addressesIn, HostList, systemResolve } from '@ws/network'

import { loadImpitClient } from './client/impit.ts'
import { undiciClient } from './client/undici.ts'
import { LiveDownloader } from './downloader.ts'
import type { ListedHosts, TorOptions } from './egress/connect.ts'
import type { Downloader, DownloaderOptions } from './types.ts'

export const webPorts: ReadonlySet<number> = new Set([80, 443, 8080, 8443])

const shapes: OptionShapes<DownloaderOptions> = {
  tor: option.options<TorOptions>({ host: option.text, port: option.integer(1, 65_535) }),
  requireTor: option.boolean,
  timeout: durationShape,
  idleTimeout: durationShape,
  client: option.oneOf('auto', 'undici'),
  hosts: option.options<ListedHosts>({
    list: option.required(option.of('a list of hosts', (value) => value instanceof HostList)),
    addresses: option.strings,
    resolve: option.function,
    onConnection: option.function,
  }),
}

/**
 * Downloads from public hosts, through a proxy of its own that checks every address. The proxy starts with the first
 * download.
 *
 * @throws WorkspaceError `EINVAL` that names the option.
 */
export function createDownloader(options: DownloaderOptions = {}): Downloader {
  checkOptions<DownloaderOptions>(options, shapes, { operation: 'createDownloader' })
  const { hosts, tor } = options
  // Tor resolves names at the far end, where a list cannot be held
  if (hosts !== undefined && (tor !== undefined || options.requireTor === true))
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'createDownloader',
      reason: '`hosts` cannot be held through Tor',
      remedy: 'leave out `hosts`, or `tor` and `requireTor`',
    })
  return new LiveDownloader(options, {
    egress: {
      resolve: hosts?.resolve ?? systemResolve,
      permits: addressesIn(hosts?.addresses ?? []),
      ports: webPorts,
      hosts,
      tor: options.tor,
    },
    clients: async () => {
      const browser = options.client === 'undici' ? undefined : await loadImpitClient()
      return browser === undefined ? [undiciClient] : [browser, undiciClient]
    },
  })
}
