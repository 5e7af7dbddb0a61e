import * as fs from 'node:fs'
import { promisify } from 'node:util'

import type { concurrency } from '@ws/core/adapter'

import { nativeCode } from '../errors.ts'
import type { Pace } from './pace.ts'

/** A path for the kernel: bytes if a name is not valid UTF-8. */
export type HostName = string | Buffer
export type Maybe<Value> = Value | Promise<Value>
export type Status = fs.BigIntStats

export type DirectoryEntry = Pick<fs.Dirent, 'name' | 'isFile' | 'isDirectory' | 'isSymbolicLink'>

export interface OpenListing {
  readSync(): DirectoryEntry | null
  read(): Promise<DirectoryEntry | null>
  closeSync(): void
  close(): Promise<void>
}

/** The system calls of an engine, which run on this thread or on libuv's pool. */
export interface Calls {
  readonly immediate: boolean
  open(name: HostName, flags: number, mode?: number): Maybe<number>
  close(fd: number): Maybe<void>
  fstat(fd: number): Maybe<Status>
  lstat(name: HostName): Maybe<Status>
  /** Returns `undefined` for a missing entry: an error would take longer than the call. */
  lookUp(name: HostName): Maybe<Status | undefined>
  readlink(name: HostName): Maybe<Buffer>
  realpath(name: string): Maybe<string>
  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): Maybe<number>
  /** Writes at the descriptor's own position unless `position` is given. */
  write(fd: number, buffer: Uint8Array, offset: number, length: number, position?: number): Maybe<number>
  mkdir(name: HostName, mode: number): Maybe<void>
  rmdir(name: HostName): Maybe<void>
  unlink(name: HostName): Maybe<void>
  rename(from: HostName, to: HostName): Maybe<void>
  link(from: HostName, to: HostName): Maybe<void>
  symlink(target: HostName, name: HostName): Maybe<void>
  chmod(name: HostName, mode: number): Maybe<void>
  chown(name: HostName, uid: number, gid: number): Maybe<void>
  fchmod(fd: number, mode: number): Maybe<void>
  fchown(fd: number, uid: number, gid: number): Maybe<void>
  ftruncate(fd: number, length: number): Maybe<void>
  fsync(fd: number): Maybe<void>
  /** Times in seconds since the epoch. */
  futimes(fd: number, accessed: number, modified: number): Maybe<void>
  /** Sets times by path, and follows a link. */
  utimes(name: HostName, accessed: number, modified: number): Maybe<void>
  copyFile(from: HostName, to: HostName, flags: number): Maybe<void>
  openListing(name: HostName, encoding: 'utf8' | 'buffer'): Maybe<OpenListing>
  readListing(listing: OpenListing): Maybe<DirectoryEntry | null>
  closeListing(listing: OpenListing): Maybe<void>
}

/** System calls on this thread, which return without waiting. */
export interface ImmediateCalls extends Calls {
  readonly immediate: true
  open(name: HostName, flags: number, mode?: number): number
  close(fd: number): void
  fstat(fd: number): Status
  lookUp(name: HostName): Status | undefined
  unlink(name: HostName): void
  /** Lists a small directory with fewer calls. */
  listSmall(name: string): readonly DirectoryEntry[]
  openListing(name: HostName, encoding: 'utf8' | 'buffer'): OpenListing
  closeListing(listing: OpenListing): void
  /** Runs several calls and times them as one: reading the clock takes as long as a call. */
  together<Result>(work: (calls: PlainCalls) => Result): Result
  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number
}

export interface PlainCalls {
  open(name: string, flags: number): number
  close(fd: number): void
  fstat(fd: number): Status
  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number
}

const plainCalls: PlainCalls = {
  open: fs.openSync,
  close: fs.closeSync,
  fstat: (fd) => fs.fstatSync(fd, { bigint: true }),
  read: (fd, buffer, offset, length, position) => fs.readSync(fd, buffer, offset, length, position),
}

export function isImmediate(calls: Calls): calls is ImmediateCalls {
  return calls.immediate
}

/** Entries of a listing that one system call reads ahead. */
const listingBuffer = 256

/** The types of `opendir` lack `'buffer'`, which the function accepts. */
function listingOptions(encoding: 'utf8' | 'buffer'): fs.OpenDirOptions {
  return { bufferSize: listingBuffer, encoding: encoding as BufferEncoding }
}

type SystemCall<Arguments extends readonly unknown[], Result> = (...args: Arguments) => Result

/** System calls on this thread. Each call is timed, so that a slow disk is noticed. */
export function immediateCalls(pace: Pace): ImmediateCalls {
  const timed =
    <Arguments extends readonly unknown[], Result>(
      call: SystemCall<Arguments, Result>,
    ): SystemCall<Arguments, Result> =>
    (...args) => {
      const start = performance.now()
      try {
        return call(...args)
      } finally {
        pace.spent(performance.now() - start)
      }
    }
  return {
    immediate: true,
    together(work) {
      const start = performance.now()
      try {
        return work(plainCalls)
      } finally {
        pace.spent(performance.now() - start)
      }
    },
    open: timed(fs.openSync),
    close: timed(fs.closeSync),
    fstat: timed((fd) => fs.fstatSync(fd, { bigint: true })),
    lstat: timed((name) => fs.lstatSync(name, { bigint: true })),
    lookUp: timed((name) => fs.lstatSync(name, { bigint: true, throwIfNoEntry: false })),
    readlink: timed((name) => fs.readlinkSync(name, 'buffer')),
    realpath: timed((name) => fs.realpathSync.native(name)),
    read: timed((fd: number, buffer: Uint8Array, offset: number, length: number, position: number) =>
      fs.readSync(fd, buffer, offset, length, position),
    ),
    write: timed((...args: Parameters<Calls['write']>) => fs.writeSync(...args)),
    mkdir: timed((name, mode) => void fs.mkdirSync(name, mode)),
    rmdir: timed((name) => fs.rmdirSync(name)),
    unlink: timed((name) => fs.unlinkSync(name)),
    rename: timed((from, to) => fs.renameSync(from, to)),
    link: timed((from, to) => fs.linkSync(from, to)),
    symlink: timed((target, name) => fs.symlinkSync(target, name)),
    chmod: timed(fs.chmodSync),
    chown: timed(fs.chownSync),
    fchmod: timed(fs.fchmodSync),
    fchown: timed(fs.fchownSync),
    ftruncate: timed(fs.ftruncateSync),
    fsync: timed(fs.fsyncSync),
    futimes: timed(fs.futimesSync),
    utimes: timed(fs.utimesSync),
    copyFile: timed(fs.copyFileSync),
    listSmall: timed((name) => fs.readdirSync(name, { withFileTypes: true })),
    openListing: timed((name, encoding) => fs.opendirSync(name as string, listingOptions(encoding))),
    readListing: (listing) => listing.readSync(), // 255 of 256 make no system call: the listing times itself
    closeListing: timed((listing) => listing.closeSync()),
  }
}

const open = promisify(fs.open)
const close = promisify(fs.close)
const fstat = promisify(fs.fstat)
const lstat = promisify(fs.lstat)
async function lookUp(name: HostName): Promise<Status | undefined> {
  try {
    return await lstat(name, { bigint: true })
  } catch (error) {
    if (nativeCode(error) === 'ENOENT') return undefined
    throw error
  }
}
const readlink = promisify(fs.readlink)
const realpath = promisify(fs.realpath.native)
const read = promisify(fs.read) as (
  fd: number,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
) => Promise<{ bytesRead: number }>
const write = promisify(fs.write) as (
  fd: number,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position?: number,
) => Promise<{ bytesWritten: number }>
const mkdir = promisify(fs.mkdir)
const rmdir = promisify(fs.rmdir) as (name: HostName) => Promise<void>
const symlink = promisify(fs.symlink) as (target: HostName, name: HostName) => Promise<void>
const opendir = promisify(fs.opendir) as (name: HostName, options: fs.OpenDirOptions) => Promise<fs.Dir>

/** System calls on libuv's pool. Their number is limited, because four hanging calls block all of `fs.promises`. */
export function pooledCalls(semaphore?: concurrency.Semaphore): Calls {
  const gated = <Arguments extends readonly unknown[], Result>(
    call: SystemCall<Arguments, Promise<Result>>,
  ): SystemCall<Arguments, Promise<Result>> =>
    semaphore === undefined ? call : (...args) => semaphore.run(() => call(...args))
  return {
    immediate: false,
    open: gated((name, flags, mode) => open(name, flags, mode)),
    close: gated(close),
    fstat: gated((fd) => fstat(fd, { bigint: true })),
    lstat: gated((name) => lstat(name, { bigint: true })),
    lookUp: gated(lookUp),
    readlink: gated((name) => readlink(name, 'buffer')),
    realpath: gated(realpath),
    read: gated(async (...args) => (await read(...args)).bytesRead),
    write: gated(async (...args) => (await write(...args)).bytesWritten),
    mkdir: gated(async (name, mode) => void (await mkdir(name, mode))),
    rmdir: gated(rmdir),
    unlink: gated(promisify(fs.unlink)),
    rename: gated(promisify(fs.rename)),
    link: gated(promisify(fs.link)),
    symlink: gated(symlink),
    chmod: gated(promisify(fs.chmod)),
    chown: gated(promisify(fs.chown)),
    fchmod: gated(promisify(fs.fchmod)),
    fchown: gated(promisify(fs.fchown)),
    ftruncate: gated(promisify(fs.ftruncate)),
    fsync: gated(promisify(fs.fsync)),
    futimes: gated(promisify(fs.futimes)),
    utimes: gated(promisify(fs.utimes)),
    copyFile: gated(promisify(fs.copyFile)),
    openListing: gated((name, encoding) => opendir(name, listingOptions(encoding))),
    readListing: gated((listing) => listing.read()),
    closeListing: gated((listing) => listing.close()),
  }
}

/** The identity `device:inode`. Inodes are unsigned, but Node returns large inodes, such as rclone's, as negative numbers. */
export function identityOf({ dev, ino }: Pick<Status, 'dev' | 'ino'>): string {
  return `${dev}:${BigInt.asUintN(64, BigInt(ino))}`
}

let directory = '/proc/self/fd/'

/** The kernel's path to an open descriptor. The path names this process by number, since `self` is another link. */
export function pathOfDescriptor(fd: number): string {
  return directory + fd
}

/** Sets this process's directory in `/proc`. In another PID namespace, that is `self`. */
export function learnOwnDirectory(): void {
  directory = '/proc/self/fd/'
  try {
    if (fs.readlinkSync('/proc/self') === String(process.pid)) directory = `/proc/${process.pid}/fd/`
  } catch {} // opening says that there is no /proc
}
