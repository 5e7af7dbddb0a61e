import { childOf } from '@ws/shell-tools/files'
import { randomFillSync } from 'node:crypto'

import { clockCalls } from './clock.ts'
import { Descriptors } from './descriptors.ts'
import { CallError } from './errors.ts'
import { type Facts, numberOfPath } from './facts.ts'
import type { Files } from './files.ts'
import type { Call } from './imports.ts'
import type { Memory } from './memory.ts'

export interface Job {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly stdin: Uint8Array
}

interface CallsOptions {
  readonly job: Job
  readonly files: Files
  readonly memory: Memory
  readonly print: (descriptor: 1 | 2, bytes: Uint8Array) => void
  readonly onInput: () => void
  /** Takes a call that has done nothing, although its caller cannot see that. */
  readonly onNothing: (call: string) => void
}

/** The program has ended. */
export class Ended extends Error {
  readonly status: number

  constructor(status: number, reason = '') {
    super(reason)
    this.status = status
  }
}

const types = { file: 0o100000, directory: 0o040000, symlink: 0o120000, stream: 0o010000 }
const listed = { file: 8, directory: 4, symlink: 10, stream: 1 }
const [currentTime, unchangedTime] = [0x3fffffff, 0x3ffffffe]
const [currentDirectory, noFollow, emptyPath, removeDirectory] = [-100, 0x100, 0x1000, 0x200]
const [copy, copyAndClose, flagsOf] = [0, 1030, 3]
/** The error of a name that has no address. */
const noAddress = -4
/**
 * The functions that the interpreter can call outside of its own memory: the workspace's files, clocks, random bytes.
 * Each function that is missing here fails as not implemented: sockets, pipes, processes, threads, mapped files.
 */
export function systemCalls({
  job,
  files,
  memory,
  print,
  onInput,
  onNothing,
}: CallsOptions): Readonly<Record<string, Call>> {
  const descriptors = new Descriptors({ files, stdin: job.stdin, print, onInput })
  const environment = Object.entries(job.env).map(([name, value]) => `${name}=${value}`)
  let cwd = job.cwd

  function at(directory: number, pointer: number): string {
    const base = directory === currentDirectory ? cwd : descriptors.get(directory).path
    return files.resolve(base, memory.text(pointer))
  }

  const here = (pointer: number) => at(currentDirectory, pointer)

  /** Reads or writes the parts of an `iovec`. */
  function each(
    work: (descriptor: number, part: Uint8Array, position: number | undefined) => number,
    [descriptor = 0, parts = 0, count = 0, result = 0]: readonly number[],
    position?: bigint,
  ): void {
    let done = 0
    for (const part of memory.parts(parts, count)) {
      const size = work(descriptor, part, position === undefined ? undefined : Number(position) + done)
      done += size
      if (size < part.length) break
    }
    memory.setNumber(result, done)
  }
  const [read, write] = [descriptors.read.bind(descriptors), descriptors.write.bind(descriptors)]

  function describe(pointer: number, { type, mode, size, modifiedAt, real }: Facts, current = size): void {
    memory.setStat(pointer, { mode: types[type] | mode, size: current, modifiedAt, number: numberOfPath(real) })
  }

  function describeOpen(descriptor: number, pointer: number): void {
    const { facts, content } = descriptors.get(descriptor)
    describe(pointer, facts, content?.size)
  }

  function setTime(directory: number, path: number, times: number): void {
    const target = path === 0 ? descriptors.get(directory).path : at(directory, path)
    const part = times === 0 ? currentTime : memory.number(times + 24)
    if (part === unchangedTime) return
    const exact = part === currentTime ? Date.now() : memory.long(times + 16) * 1_000 + Math.floor(part / 1e6)
    files.setTime(target, exact)
  }

  function list(descriptor: number, pointer: number, length: number): number {
    const { target, names } = descriptors.names(descriptor)
    let size = 0
    for (const { name, type } of names) {
      const bytes = Buffer.from(name)
      const needed = (19 + bytes.length + 1 + 7) & ~7
      if (size + needed > length) break
      target.position++
      const number = numberOfPath(childOf(target.facts.real, name))
      memory.setEntry(pointer + size, { number, next: target.position, needed, type: listed[type], bytes })
      size += needed
    }
    return size
  }

  const ended = (status: number, reason?: string): never => {
    throw new Ended(status, reason)
  }

  const program: Record<string, Call> = {
    exit: ended,
    proc_exit: ended,
    _abort_js: () => ended(134, 'the program was aborted'),
    __call_sighandler: (handler: number, signal: number) => memory.invoke(handler, signal),
    _emscripten_system: (command: number) => {
      if (command === 0) return 0
      onNothing('os.system: python cannot start programs here')
      return 127 << 8
    },
    getaddrinfo: () => noAddress,
    getnameinfo: () => noAddress,
    environ_sizes_get: (count: number, size: number) => memory.setNumbers([count, size], memory.sizes(environment)),
    environ_get: (pointers: number, bytes: number) => memory.setTexts(pointers, bytes, environment),
    emscripten_get_heap_max: () => memory.most,
    emscripten_resize_heap: (size: number) => memory.grow(size >>> 0),
    random_get: (pointer: number, length: number) => void randomFillSync(memory.bytes(pointer, length)),
  }

  const opened: Record<string, Call> = {
    openat: (directory: number, path: number, flags: number, mode: number) =>
      descriptors.open(at(directory, path), flags, mode === 0 ? 0 : memory.number(mode)),
    fd_close: (fd: number) => descriptors.close(fd),
    fd_read: (...given: number[]) => each(read, given),
    fd_write: (...given: number[]) => each(write, given),
    fd_pread: (fd: number, parts: number, count: number, position: bigint, result: number) =>
      each(read, [fd, parts, count, result], position),
    fd_pwrite: (fd: number, parts: number, count: number, position: bigint, result: number) =>
      each(write, [fd, parts, count, result], position),
    fd_seek: (fd: number, offset: bigint, whence: number, result: number) =>
      memory.setLong(result, descriptors.seek(fd, offset, whence)),
    fd_sync: (fd: number) => descriptors.get(fd).content?.save(),
    fdatasync: (fd: number) => descriptors.get(fd).content?.save(),
    fd_fdstat_get: (fd: number, pointer: number) => {
      memory.bytes(pointer, 24).fill(0)[0] = descriptors.get(fd).kind === 'directory' ? 3 : 4
    },
    fcntl64: (fd: number, command: number, argument: number) => {
      const target = descriptors.get(fd)
      if (command === copy || command === copyAndClose) return descriptors.place(target, memory.number(argument))
      return command === flagsOf ? target.flags : 0
    },
    dup3: (from: number, to: number) => descriptors.copy(from, to),
    ioctl: () => {
      throw new CallError('ENOTTY')
    },
    fadvise64: () => 0,
    fstat64: describeOpen,
    fchmod: (fd: number, mode: number) => files.chmod(descriptors.get(fd).path, mode),
    ftruncate64: (fd: number, size: bigint) => descriptors.content(fd).truncate(Number(size)),
    getdents64: list,
    fchdir: (fd: number) => void (cwd = descriptors.get(fd).path),
  }

  const named: Record<string, Call> = {
    getcwd: (pointer: number, size: number) => {
      if (Buffer.byteLength(cwd) + 1 > size) throw new CallError('ERANGE')
      return memory.setText(pointer, cwd)
    },
    chdir: (path: number) => {
      const to = files.look(here(path))
      if (to.type !== 'directory') throw new CallError('ENOTDIR')
      cwd = to.real
    },
    stat64: (path: number, pointer: number) => describe(pointer, files.look(here(path))),
    lstat64: (path: number, pointer: number) => describe(pointer, files.look(here(path), { follow: false })),
    newfstatat: (directory: number, path: number, pointer: number, flags: number) => {
      if ((flags & emptyPath) !== 0 && memory.text(path) === '') return describeOpen(directory, pointer)
      describe(pointer, files.look(at(directory, path), { follow: (flags & noFollow) === 0 }))
    },
    faccessat: (directory: number, path: number, rights: number) => {
      if (((files.look(at(directory, path)).mode >> 6) & rights) !== rights) throw new CallError('EACCES')
    },
    mkdirat: (directory: number, path: number, mode: number) => files.makeDirectory(at(directory, path), mode),
    rmdir: (path: number) => files.remove(here(path), 'directory'),
    unlinkat: (directory: number, path: number, flags: number) =>
      files.remove(at(directory, path), flags === removeDirectory ? 'directory' : 'file'),
    renameat: (fromDirectory: number, from: number, toDirectory: number, to: number) =>
      files.rename(at(fromDirectory, from), at(toDirectory, to)),
    symlinkat: (target: number, directory: number, path: number) =>
      files.link(memory.text(target), at(directory, path)),
    readlinkat: (directory: number, path: number, pointer: number, size: number) => {
      const bytes = Buffer.from(files.linkTarget(at(directory, path))).subarray(0, size)
      memory.bytes(pointer, bytes.length).set(bytes)
      return bytes.length
    },
    chmod: (path: number, mode: number) => files.chmod(here(path), mode),
    fchmodat2: (directory: number, path: number, mode: number) => files.chmod(at(directory, path), mode),
    utimensat: setTime,
    truncate64: (path: number, size: bigint) => {
      const fd = descriptors.open(here(path), 2, 0)
      try {
        descriptors.content(fd).truncate(Number(size))
      } finally {
        descriptors.close(fd)
      }
    },
  }

  return { ...clockCalls(memory), ...program, ...opened, ...named }
}
