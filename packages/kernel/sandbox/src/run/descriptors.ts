import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { isShort } from './room.ts'
import { noTemporaryFiles } from './temporary-directory.ts'

// `fs.constants` has no O_TMPFILE. The number of __O_TMPFILE is equal on x86-64 and arm64; the number of O_DIRECTORY differs.
const temporaryFile = 0o20000000 | constants.O_DIRECTORY

/** Opens an unnamed file with mode 0600. The caller closes it. @throws WorkspaceError `ENOEXECUTOR` if no directory supports unnamed files */
export function openPrivateFile(content?: Uint8Array): number {
  const fd = openUnnamed()
  try {
    for (let done = 0; content !== undefined && done < content.length; ) {
      done += writeSync(fd, content, done, content.length - done, done)
    }
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Opens content as a read-only descriptor at offset 0. A child with this descriptor cannot change the content. */
export function openContent(content: Uint8Array): number {
  if (process.platform !== 'linux') return openNamedContent(content)
  const writable = openPrivateFile(content)
  try {
    return openSync(`/proc/self/fd/${writable}`, constants.O_RDONLY)
  } finally {
    closeSync(writable)
  }
}

/** Works like {@link openContent}. Without `/proc`, a file cannot be opened again by its descriptor, so it has a name for a moment. */
function openNamedContent(content: Uint8Array): number {
  const path = join(tmpdir(), `.ws-${randomUUID()}`)
  try {
    writeFileSync(path, content, { mode: 0o600, flag: 'wx' })
    return openSync(path, constants.O_RDONLY)
  } catch (native) {
    throw noTemporaryFiles(native)
  } finally {
    rmSync(path, { force: true })
  }
}

/** Content for several children. Each child gets its own descriptor at offset 0. */
export interface KeptContent {
  /** Opens a read-only descriptor in this process. The caller closes it. */
  reopen(): number
}

function openUnnamed(): number {
  for (const directory of ['/dev/shm', tmpdir()]) {
    try {
      return openSync(directory, temporaryFile | constants.O_RDWR, 0o600)
    } catch {
      // The directory is missing, read-only or without O_TMPFILE: the loop tries the next directory.
    }
  }
  try {
    const path = join(tmpdir(), `.ws-${randomUUID()}`)
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
    unlinkSync(path)
    return fd
  } catch (native) {
    throw noTemporaryFiles(native)
  }
}

let inherited: readonly number[] | undefined
let nullDevice: number | undefined

/** Returns the descriptors above 2 that a child would inherit. Determined once. On macOS, Node's children inherit none. */
export function inheritedDescriptors(): readonly number[] {
  if (process.platform !== 'linux') return []
  inherited ??= readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && reachesChildren(fd) && !own.has(fd))
  return own.size === 0 ? inherited : [...inherited, ...own]
}

const own = new Set<number>()

/** Prevents children from inheriting a library's descriptor. Call the returned function when the descriptor is closed. */
export function keepFromChildren(fd: number): () => void {
  own.add(fd)
  return () => void own.delete(fd)
}

const closeOnExec = 0o2000000

function reachesChildren(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch (error) {
    if (isShort(error)) throw error
    return false // the descriptor of this listing
  }
}

/** Returns a descriptor of `/dev/null`, opened once, to replace descriptors that a child must not get. */
export function nullDescriptor(): number {
  nullDevice ??= openSync('/dev/null', constants.O_RDWR)
  return nullDevice
}
