import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'

import { Descriptors } from '@ws/sandbox'

import type { Handle } from './handle.ts'
import type { Task } from './task.ts'
import { nativeCode } from '../errors.ts'
import { under } from '../host/name.ts'
import { tempPrefix } from './hidden.ts'

/** Age in milliseconds before a dead process's temporary file is removed. */
const deadAfterMs = 5 * 60_000
/** Age in milliseconds if the process cannot be looked up (another container or boot). */
const foreignAfterMs = 24 * 3_600_000

let mark: string | undefined

/** Identifies the process of a temporary entry: `<system>-<pid>-<start>`. */
export function ownMark(): string {
  mark ??= `${systemId()}-${process.pid.toString(36)}-${startTime('self') ?? '0'}`
  return mark
}

/** Whether the process of a mark has ended; `undefined` if unknown. */
export function isGone(ofMark: string): boolean | undefined {
  const [system, pid, start] = ofMark.split('-')
  const sameSystem = system !== '0' && ownMark().startsWith(`${system}-`)
  if (!sameSystem || pid === undefined || start === undefined) return undefined
  return !isAlive(Number.parseInt(pid, 36), start)
}

export function newTempName(): string {
  return `${tempPrefix}${ownMark()}-${randomUUID()}`
}

/** An identity of the system. It is equal for processes that see each other's ids, until the next boot. */
function systemId(): string {
  const parts: string[] = []
  for (const read of [
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'),
    () => readlinkSync('/proc/self/ns/pid'),
  ]) {
    try {
      parts.push(read().trim())
    } catch (error) {
      if (Descriptors.isShort(error)) throw error
      return '0'
    }
  }
  return createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 12)
}

/** A process's start in ticks since boot, base 36. Process ids are reused, but not with the same start. */
function startTime(pid: number | 'self'): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return ticks === undefined ? undefined : Number(ticks).toString(36)
  } catch (error) {
    // Without the time, a wrong mark would be cached, and other processes would remove this process's files.
    if (Descriptors.isShort(error)) throw error
    return undefined
  }
}

export interface SweepOptions {
  /** Milliseconds since the last write. Default five minutes. */
  readonly deadAfter?: number
}

/** Whether a temporary file's process has ended. `age`: since the last write. */
export function isLeftover(name: string, age: number, { deadAfter = deadAfterMs }: SweepOptions = {}): boolean {
  if (age < deadAfter) return false
  return isGone(name.slice(tempPrefix.length)) ?? age >= foreignAfterMs
}

function isAlive(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0) // sends nothing
  } catch (error) {
    if (nativeCode(error) !== 'EPERM') return false
  }
  return (startTime(pid) ?? start) === start
}

/** Removes temporary files of ended processes from an open directory. Never fails. */
export async function sweep(
  { calls }: Task,
  directory: Handle,
  names: readonly string[],
  options: SweepOptions = {},
): Promise<void> {
  for (const name of names) {
    const path = under(directory.self, name)
    try {
      const status = await calls.lstat(path)
      if (status.isDirectory()) continue
      if (isLeftover(name, Date.now() - Number(status.mtimeMs), options)) await calls.unlink(path)
    } catch {
      // another process removed the file, or this process lacks the right
    }
  }
}
