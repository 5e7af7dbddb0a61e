import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import { addressesIn, addressesShape, systemResolve } from '@ws/network'

import { loadImpitClient } from './client/impit.ts'
import { undiciClient } from './client/undici.ts'
import { LiveDownloader } from './downloader.ts'
import type { TorOptions } from './egress/connect.ts'
import type { Downloader, DownloaderOptions } from './types.ts'

export const webPorts: ReadonlySet<number> = new Set([80, 443, 8080, 8443])

const shapes: OptionShapes<DownloaderOptions> = {
  tor: option.options<TorOptions>({ host: option.text, port: option.integer(1, 65_535) }),
  requireTor: option.boolean,
  timeout: option.duration,
  idleTimeout: option.duration,
  client: option.oneOf('auto', 'undici'),
  addresses: addressesShape,
  resolve: option.function,
}

/** Downloads from public hosts through its own proxy, which checks every address. @throws WorkspaceError `EINVAL` */
export function createDownloader(options: DownloaderOptions = {}): Downloader {
  checkOptions<DownloaderOptions>(options, shapes, { operation: 'createDownloader' })
  const { addresses = [], resolve = systemResolve, tor } = options
  return new LiveDownloader(options, {
    egress: { resolve, permits: addressesIn(addresses), ports: webPorts, tor },
    clients: async () => {
      const browser = options.client === 'undici' ? undefined : await loadImpitClient()
      return browser === undefined ? [undiciClient] : [browser, undiciClient]
    },
  })
}
