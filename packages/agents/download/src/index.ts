export { createDownloader } from './create.ts'
export type { Download, Downloader, DownloaderOptions } from './types.ts'
export { checkUrl } from './url.ts'
