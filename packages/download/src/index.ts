export { createDownloader } from './create.ts'
export type { ListedHosts, TorOptions } from './egress/connect.ts'
export type { Download, Downloader, DownloaderOptions, OpenOptions } from './types.ts'
