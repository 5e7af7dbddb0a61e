import { readlinkSync } from 'node:fs'

import { readProcessStat } from '../../run/tree/stat.ts'

const pattern = /^ws-(\d+)-(\d+)-(\d+)-\d+$/

let prefix: string | undefined
let made = 0

/** Returns a new group name of this process: PID namespace, pid, start time, count. */
export function nextName(): string {
  prefix ??= `ws-${pidNamespace()}-${process.pid}-${readProcessStat(process.pid)?.startTime ?? '0'}`
  return `${prefix}-${++made}`
}

/** Returns whether a group's process is certainly gone. In another PID namespace, this is never certain. */
export function isAbandoned(name: string): boolean {
  const [, namespace, pid, startTime] = pattern.exec(name) ?? []
  if (namespace === undefined || namespace !== pidNamespace()) return false
  const now = readProcessStat(Number(pid))?.startTime
  return now === undefined ? !exists(Number(pid)) : now !== startTime
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

function pidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
}
