import { readlinkSync } from 'node:fs'

let directory = '/proc/self/fd/'

/** The kernel's path to an open descriptor, by this process's number where possible: `self` is one link more to follow. */
export function pathOfDescriptor(fd: number): string {
  return directory + fd
}

/** Finds out how `/proc` calls this process; in another PID namespace than `/proc` is from, it stays `self`. */
export function learnOwnDirectory(): void {
  try {
    const own = readlinkSync('/proc/self')
    directory = own === String(process.pid) ? `/proc/${own}/fd/` : '/proc/self/fd/'
  } catch {
    directory = '/proc/self/fd/'
  }
}
