export interface VolumeStats {
  readonly ino: number | bigint
  readonly mode: number | bigint
  readonly size: number | bigint
  readonly mtimeMs: number | bigint
  readonly ctimeMs: number | bigint
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

/** The functions of `node:fs` that a volume must have, as in memfs. Paths have `/` between names. */
export interface VolumeFileSystem {
  lstatSync(path: string): VolumeStats
  readdirSync(path: string): unknown
  readlinkSync(path: string): unknown
  readFileSync(path: string): unknown
  writeFileSync(path: string, data: Uint8Array, options?: { readonly mode?: number; readonly flag?: string }): void
  appendFileSync(path: string, data: Uint8Array): void
  mkdirSync(path: string, options?: { readonly mode?: number; readonly recursive?: boolean }): unknown
  rmSync(path: string, options?: { readonly recursive?: boolean }): void
  unlinkSync(path: string): void
  renameSync(from: string, to: string): void
  symlinkSync(target: string, path: string): void
  chmodSync(path: string, mode: number): void
  utimesSync(path: string, accessed: number, modified: number): void
}
