export { createDownloader } from './create.ts'
export type { TorOptions } from './egress/connect.ts'
export type { Download, Downloader, DownloaderOptions, OpenOptions } from './types.ts'
export { checkUrl } from './url.ts'
