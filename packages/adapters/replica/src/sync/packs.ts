import { hash, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

import { paths } from '@ws/core'
import { concurrency, type MountPath, signals } from '@ws/core/adapter'
import type { InnerAdapter } from '@ws/core/inner'
import { contentOf } from '@ws/tree/disk'

import type { Fetched, Remote } from './remote.ts'
import type { Site } from './site.ts'

/** Files with more bytes are in no pack. */
const smallBytes = 128 * 1024
/** Files for which a pack is written or read. Fewer of them come one by one. */
const fewest = 100
/** Bytes of the files of a pack. */
const packBytes = 4 * 1024 * 1024
/** Bytes of the largest pack that is read, before and after it is decompressed. */
const mostBytes = 2 * packBytes
/** Packs that are kept. Their files come one by one when an older one is removed, and go to a new one. */
const mostPacks = 32
/** Packs that are on their way at once. */
const parallel = 4
/** Milliseconds that a push waits for its packs. */
const writeTime = 30_000

const deflate = promisify(gzip)
const inflate = promisify(gunzip)
const decoder = new TextDecoder('utf-8', { fatal: true })

/** As a read of the object gives it. */
type Marks = Pick<Fetched, 'version' | 'mode' | 'mtime'>
type Line = readonly [path: string, size: number, mode: number | null, mtime: number | null]

interface PackedFile extends Omit<Marks, 'version'> {
  readonly path: string
  readonly bytes: Uint8Array
}

/**
 * Copies of many small files in few objects, beside a store that has one writer. They save requests and are never the truth: a file
 * comes from a pack only where its object was written before the pack, and has the MD5 of these bytes as its version. Failures here are
 * ignored, since each file can come from its object.
 */
export class Packs {
  readonly #store: InnerAdapter | undefined
  /** Files of packs that a pull is about to bring. */
  readonly #found = new Map<string, PackedFile & Marks>()
  /** Objects that are in no pack, as far as this process knows. */
  readonly #loose = new Map<string, Marks>()

  constructor({ isSole = false, beside }: InnerAdapter) {
    this.#store = isSole ? beside : undefined
  }

  /** Looks for files in packs, where there are many. Packs whose files have changed in the store are removed. */
  async load(
    listed: ReadonlyMap<string, Remote>,
    asked: Iterable<string>,
    signal: AbortSignal | undefined,
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
        const files = isOld ? [] : await this.#read(store, path, signal)
        const fresh = files.flatMap((file) => freshOf(file, listed.get(file.path), writtenAt))
        for (const file of fresh) if (wanted.has(file.path)) this.#found.set(file.path, file)
        if (fresh.length > files.length / 2) return
        await store.delete(path, { signal })
        for (const { path: at, bytes: _, ...marks } of fresh) this.#loose.set(at, marks)
      })
    } catch {
      // the store may be away: a pull that needs it says so
    }
  }

  async #read(store: InnerAdapter, path: MountPath, signal: AbortSignal | undefined): Promise<readonly PackedFile[]> {
    const { bytes } = await store.read(path, { maxBytes: mostBytes, signal })
    // another program has written it, or cut it off
    return filesIn(bytes).catch(() => [])
  }

  /** A file as the listing shows it, where a pack has it. It can be had once. */
  take(path: string, version: string | undefined): Fetched | undefined {
    const file = this.#found.get(path)
    this.#found.delete(path)
    if (file === undefined || file.version !== version) return undefined
    const { mode, mtime } = file
    const bytes = new Uint8Array(file.bytes) // its own memory, which the disk's thread takes over
    return { version, mode, mtime, bytes, content: contentOf(bytes) }
  }

  /** Notes an object that has come or gone by itself. `undefined`: its marks are others now. */
  note(path: string, size: number, marks: Marks | undefined): void {
    this.#loose.delete(path)
    if (this.#store !== undefined && marks !== undefined && size <= smallBytes) this.#loose.set(path, marks)
  }

  /** Writes packs of the noted objects, where they are many. */
  async keep({ tree, disk, isBusy }: Site, signal: AbortSignal | undefined): Promise<void> {
    if (this.#store === undefined || this.#loose.size < fewest || isBusy()) return
    const loose = [...this.#loose]
    this.#loose.clear()
    const within = signals.either(AbortSignal.timeout(writeTime), signal)
    let files: PackedFile[] = []
    let size = 0
    try {
      for (const [path, { version, mode, mtime }] of loose) {
        if (tree.base.get(path)?.version !== version) continue
        const bytes = await disk.ask('read', path, false)
        if (bytes === undefined || hash('md5', bytes) !== version) continue
        files.push({ path, bytes, mode, mtime })
        size += bytes.length
        if (size < packBytes) continue
        await write(this.#store, files, within)
        files = []
        size = 0
      }
      if (files.length > 0) await write(this.#store, files, within)
    } catch {
      // the objects are in the store already: they have arrived without the pack
    }
  }
}

function isSmall(remote: Remote | undefined): boolean {
  return remote?.type === 'file' && remote.size <= smallBytes
}

/** The file, where the object had these bytes and marks when the pack was written, and has them still. */
function freshOf(file: PackedFile, now: Remote | undefined, writtenAt: number): (PackedFile & Marks)[] {
  if (now?.type !== 'file' || now.writtenAt === undefined || now.writtenAt >= writtenAt) return []
  if (hash('md5', file.bytes) !== now.version) return []
  return [{ ...file, version: now.version, mtime: file.mtime ?? now.writtenAt }]
}

async function write(
  store: InnerAdapter,
  files: readonly PackedFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const lines = files.map(({ path, bytes, mode, mtime }): Line => [path, bytes.length, mode ?? null, mtime ?? null])
  const head = Buffer.from(JSON.stringify(lines))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(head.length)
  const bytes = await deflate(Buffer.concat([length, head, ...files.map((file) => file.bytes)]), { level: 1 })
  const path = `/${randomUUID()}` as MountPath
  await store.write(path, bytes, { ifVersion: 'absent', listed: true, parents: true, signal })
}

/** @throws where it is no pack */
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
