import { execError, shortages } from '@ws/core/executor'
import {
  closeSync,
  constants,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { Descriptors, Processes, type SystemEntry, Temporary } from '@ws/sandbox'

const pathOnly = 0o10000000

/**
 * A directory with the files of `/etc`, mounted as a whole.
 * bubblewrap would write the files one by one, by names that other programs could redirect.
 */
export interface EtcDirectory {
  readonly fd: number
  close(): void
}

/** @throws WorkspaceError `ENOEXECUTOR` where no such directory can be made */
export function makeEtcDirectory(system: readonly SystemEntry[]): EtcDirectory {
  try {
    return populate(makeDirectoryForAll(), system)
  } catch (native) {
    const shortage = shortages.of(native)
    if (shortage !== undefined) throw shortages.refusal(shortage, { native })
    const reason = 'the files of `/etc` could not be copied for commands'
    throw execError('ENOEXECUTOR', reason, { remedy: Temporary.temporaryRemedy, native })
  }
}

function populate(directory: string, system: readonly SystemEntry[]): EtcDirectory {
  const close = () => rmSync(directory, { recursive: true, force: true })
  try {
    chmodSync(directory, 0o755)
    for (const entry of system) if (entry.at.startsWith('/etc/')) put(entry, directory + entry.at.slice('/etc'.length))
    const fd = openSync(directory, pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    return {
      fd,
      close() {
        closeSync(fd)
        close()
      },
    }
  } catch (error) {
    close()
    throw error
  }
}

function put(entry: SystemEntry, at: string): void {
  mkdirSync(dirname(at), { recursive: true, mode: 0o755 })
  if (entry.kind === 'directory') mkdirSync(at, { recursive: true, mode: 0o755 })
  else if (entry.kind === 'link') symlinkSync(entry.target, at)
  else {
    if (entry.kind === 'file') copyFileSync(entry.source, at)
    else writeFileSync(at, entry.content)
    chmodSync(at, 0o444)
  }
}

/**
 * Makes a directory of mode 0700 in a place that every user may enter: bubblewrap resolves mounts as the workspace's owner.
 * Removes leftovers of killed processes.
 */
export function makeDirectoryForAll(): string {
  const place = placeForAll()
  sweep(place)
  return mkdtempSync(join(realpathSync(place), `${ownPrefix()}-`))
}

function placeForAll(): string {
  try {
    readdirSync('/dev/shm')
    return '/dev/shm'
  } catch (error) {
    if (Descriptors.isShort(error)) throw error
    return tmpdir()
  }
}

/** A prefix that distinguishes this process from other processes with the same number. */
function ownPrefix(): string {
  return `${sharedPrefix()}-${process.pid}-${Processes.readProcessStat(process.pid)?.startTime ?? 0}`
}

function sharedPrefix(): string {
  return `ws-view-${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]}`
}

/** Removes leftovers of killed processes. */
function sweep(place: string): void {
  const prefix = `${sharedPrefix()}-`
  for (const name of readdirSync(place)) {
    if (!name.startsWith(prefix)) continue
    const [pid, startTime] = name.slice(prefix.length).split('-')
    if (Processes.readProcessStat(Number(pid))?.startTime === startTime) continue
    try {
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // The directory belongs to another user.
    }
  }
}
