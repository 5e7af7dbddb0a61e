import { hash, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

import { paths } from '@ws/core'
import { concurrency, type MountPath, signals } from '@ws/core/adapter'
import type { InnerAdapter } from '@ws/core/inner'
import { contentOf } from '@ws/tree/disk'

import type { Fetched, Remote } from './remote.ts'
import type { Site } from './site.ts'

/** Packs contain no file above this size. */
const smallBytes = 128 * 1024
/** Number of files from which a pack is written or read. Fewer files are transferred one by one. */
const fewest = 100
/** Bytes of files in one pack. */
const packBytes = 4 * 1024 * 1024
/** Limit of bytes in a pack that is read, both compressed and decompressed. */
const mostBytes = 2 * packBytes
/** Limit of packs. When an old pack is removed, its files are fetched one by one, then packed again. */
const mostPacks = 256
/** Limit of packs whose files wait in memory. */
const mostHeld = 32
/** Small packs are merged once there are this many. */
const mostSmall = 16
/** Limit of packs in transfer at once. */
const parallel = 4
/** Milliseconds that a push waits for its packs. */
const writeTime = 30_000

const deflate = promisify(gzip)
const inflate = promisify(gunzip)
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Version and marks, as a read of the object returns them. */
type Marks = Pick<Fetched, 'version' | 'mode' | 'mtime'>
type Line = readonly [path: string, size: number, mode: number | null, mtime: number | null]

interface PackedFile extends Omit<Marks, 'version'> {
  readonly path: string
  readonly bytes: Uint8Array
}

/**
 * Keeps copies of many small files in few objects, for a store with one writer. Packs only save requests. A file is taken from a pack
 * only if its own object is older than the pack, and if the version of that object is the MD5 of the bytes. Failures here are
 * ignored, because each file can also be read from its own object.
 */
export class Packs {
  readonly #store: InnerAdapter | undefined
  /** Files found in packs that the next pull will bring. */
  readonly #found = new Map<string, PackedFile & Marks>()
  /** Objects that this process knows to be in no pack. */
  readonly #loose = new Map<string, Marks>()
  /** Packs with less than half of {@link packBytes}, and their objects. */
  readonly #small = new Map<MountPath, Map<string, Marks>>()

  constructor({ isSole = false, beside }: InnerAdapter) {
    this.#store = isSole ? beside : undefined
  }

  /**
   * If many files are asked for, reads them from packs. Packs whose files have changed in the store are removed.
   * @param bring takes the files of each pack before more packs are read. Default: the newest packs wait in memory
   */
  async load(
    listed: ReadonlyMap<string, Remote>,
    asked: Iterable<string>,
    signal: AbortSignal | undefined,
    bring?: (found: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const store = this.#store
    const wanted = new Set([...asked].filter((path) => isSmall(listed.get(path))))
    if (store === undefined || wanted.size < fewest) return
    this.#found.clear()
    try {
      const listing = store.list(paths.mountRoot, { recursive: true, written: true, signal })
      const packs = (await Array.fromAsync(listing)).sort((one, other) => (other.writtenAt ?? 0) - (one.writtenAt ?? 0))
      await concurrency.forEachOf(packs.entries(), parallel, async ([index, { path, size = 0, writtenAt = 0 }]) => {
        const isOld = index >= mostPacks || size > mostBytes
        if (!isOld && bring === undefined && index >= mostHeld) return
        const files = isOld ? [] : await this.#read(store, path, signal)
        const fresh = files.flatMap((file) => freshOf(file, listed.get(file.path), writtenAt))
        const found = fresh.filter((file) => wanted.delete(file.path))
        for (const file of found) this.#found.set(file.path, file)
        await bring?.(found.map((file) => file.path))
        const marks = marksOf(fresh)
        if (fresh.length <= files.length / 2) {
          await store.delete(path, { signal })
          for (const [at, one] of marks) this.#loose.set(at, one)
        } else if (fresh.reduce((sum, { bytes }) => sum + bytes.length, 0) < packBytes / 2) this.#small.set(path, marks)
      })
    } catch {
      // if the store is unreachable, the next pull that needs it reports the failure
    }
  }

  async #read(store: InnerAdapter, path: MountPath, signal: AbortSignal | undefined): Promise<readonly PackedFile[]> {
    const { bytes } = await store.read(path, { maxBytes: mostBytes, signal })
    // another program has written or truncated this pack
    return filesIn(bytes).catch(() => [])
  }

  /** Returns a packed file if it matches the listing. Each file is returned only once. */
  take(path: string, version: string | undefined): Fetched | undefined {
    const file = this.#found.get(path)
    this.#found.delete(path)
    if (file === undefined || file.version !== version) return undefined
    const { mode, mtime } = file
    const bytes = new Uint8Array(file.bytes) // a copy, because the memory is transferred to the disk's thread
    return { version, mode, mtime, bytes, content: contentOf(bytes) }
  }

  /** Records a new or removed object outside packs. `undefined`: the object's marks are no longer known. */
  note(path: string, size: number, marks: Marks | undefined): void {
    this.#loose.delete(path)
    for (const marksIn of this.#small.values()) marksIn.delete(path)
    if (this.#store !== undefined && marks !== undefined && size <= smallBytes) this.#loose.set(path, marks)
  }

  /** Writes packs of the recorded objects, if there are many. */
  async keep({ tree, disk, isBusy }: Site, signal: AbortSignal | undefined): Promise<void> {
    const store = this.#store
    if (store === undefined || this.#loose.size < fewest || isBusy()) return
    const merged = this.#small.size < mostSmall ? [] : [...this.#small]
    const objects = new Map([...merged.flatMap(([, marks]) => [...marks]), ...this.#loose])
    this.#loose.clear()
    const within = signals.either(AbortSignal.timeout(writeTime), signal)
    let files: (PackedFile & Marks)[] = []
    let size = 0
    const end = async (): Promise<void> => {
      if (files.length === 0) return
      const path = await write(store, files, within)
      if (size < packBytes / 2) this.#small.set(path, marksOf(files))
      files = []
      size = 0
    }
    try {
      for (const [path, marks] of objects) {
        if (tree.base.get(path)?.version !== marks.version) continue
        const bytes = await disk.ask('read', path, false)
        if (bytes === undefined || hash('md5', bytes) !== marks.version) continue
        files.push({ path, bytes, ...marks })
        size += bytes.length
        if (size >= packBytes) await end()
      }
      await end()
      for (const [path] of merged) this.#small.delete(path)
      await concurrency.forEachOf(merged, parallel, ([path]) => store.delete(path, { signal: within }))
    } catch {
      // the objects are in the store already, so a missing pack loses nothing
    }
  }
}

function marksOf(files: readonly (PackedFile & Marks)[]): Map<string, Marks> {
  return new Map(files.map(({ path, version, mode, mtime }) => [path, { version, mode, mtime }]))
}

function isSmall(remote: Remote | undefined): boolean {
  return remote?.type === 'file' && remote.size <= smallBytes
}

/** Returns the file if its object had these bytes and marks when the pack was written, and still has them. */
function freshOf(file: PackedFile, now: Remote | undefined, writtenAt: number): (PackedFile & Marks)[] {
  if (now?.type !== 'file' || now.writtenAt === undefined || now.writtenAt >= writtenAt) return []
  if (hash('md5', file.bytes) !== now.version) return [] // @defence a pack of small files that is forged: with other bytes
  return [{ ...file, version: now.version, mtime: file.mtime ?? now.writtenAt }]
}

async function write(
  store: InnerAdapter,
  files: readonly PackedFile[],
  signal: AbortSignal | undefined,
): Promise<MountPath> {
  const lines = files.map(({ path, bytes, mode, mtime }): Line => [path, bytes.length, mode ?? null, mtime ?? null])
  const head = Buffer.from(JSON.stringify(lines))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(head.length)
  const bytes = await deflate(Buffer.concat([length, head, ...files.map((file) => file.bytes)]), { level: 1 })
  const path = `/${randomUUID()}` as MountPath
  await store.write(path, bytes, { ifVersion: 'absent', listed: true, parents: true, signal })
  return path
}

/** @throws if the bytes are no pack */
async function filesIn(packed: Uint8Array): Promise<PackedFile[]> {
  const bytes = await inflate(packed, { maxOutputLength: mostBytes })
  let at = 4 + bytes.readUInt32LE(0)
  const lines = JSON.parse(decoder.decode(bytes.subarray(4, at))) as readonly unknown[]
  return lines.map((line) => {
    if (!isLine(line)) throw new Error('no pack has such a line')
    const [path, size, mode, mtime] = line
    const file = { path, bytes: bytes.subarray(at, at + size), mode: mode ?? undefined, mtime: mtime ?? undefined }
    at += size
    return file
  })
}

function isLine(line: unknown): line is Line {
  if (!Array.isArray(line)) return false
  const [path, size, mode, mtime] = line as unknown[]
  const isBits = mode === null || (Number.isInteger(mode) && Number(mode) >= 0 && Number(mode) <= 0o777)
  return typeof path === 'string' && Number.isSafeInteger(size) && Number(size) >= 0 && isBits && isTime(mtime)
}

function isTime(time: unknown): boolean {
  return time === null || (typeof time === 'number' && Math.abs(time) < 8.64e15)
}
