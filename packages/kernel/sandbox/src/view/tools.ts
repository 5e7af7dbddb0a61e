import { paths, type VirtualPath, WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type { BindPlan } from '@ws/core/executor'
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { invalid } from '../errors.ts'
import { directoryOnTheWay } from './host-way.ts'

/** A directory that commands can only read, such as the directory of a version manager. */
export interface Tool {
  /** Absolute path on this machine. Its links are followed once. A run refuses a path into a directory that commands can write. */
  readonly host: string
  /** The path in the sandbox. That path, or its `bin`, precedes the system's PATH. Default: the host path, which many tools contain. */
  readonly at?: string | undefined
}

export interface ResolvedTool {
  /** The canonical host path. */
  readonly host: string
  readonly given: string
  readonly at: VirtualPath
}

/** Names at `/` that the system and the sandbox use. */
const reserved = [
  'tmp',
  'etc',
  'dev',
  'proc',
  'sys',
  'run',
  'usr',
  'bin',
  'sbin',
  'lib',
  'lib32',
  'lib64',
  'libx32',
].map((name) => `/${name}` as VirtualPath)

/**
 * Resolves the `tools` of an executor's options, after the check by `toolsShape`. Messages do not contain the host path.
 * @throws WorkspaceError `EINVAL` if a tool is not a directory here, or its path in the sandbox is reserved
 */
export function resolveTools(tools: readonly Tool[], operation: string): ResolvedTool[] {
  const resolved = tools.map((tool) => resolveTool(tool, operation))
  resolved.forEach(({ at }, index) => {
    const other = resolved.find((tool, before) => before < index && overlap(tool.at, at))
    if (other !== undefined) throw invalid(operation, `the tools at \`${other.at}\` and \`${at}\` overlap`)
  })
  return resolved
}

function resolveTool({ host, at }: Tool, operation: string): ResolvedTool {
  let real: string | undefined
  try {
    real = realpathSync(host)
    if (!lstatSync(real).isDirectory()) real = undefined
  } catch {
    // The check below reports this, without the host path.
  }
  const place = at === undefined ? real : paths.parseVirtual(at, { operation })
  if (real === undefined || place === undefined)
    throw invalid(operation, `the tool${at === undefined ? '' : ` for \`${at}\``} is not a directory of this machine`)
  const free = paths.parseVirtual(place, { operation })
  if (free === '/' || /[:!]/.test(free) || reserved.some((path) => overlap(free, path)))
    throw invalid(operation, `a tool cannot be at \`${free}\``, 'choose a directory of its own such as /opt/node')
  return { host: real, given: host, at: free }
}

/** Returns the names at `/` that tools use; `undefined` for none. */
export function toolNames(tools: readonly ResolvedTool[]): readonly string[] | undefined {
  return tools.length === 0 ? undefined : [...new Set(tools.map(({ at }) => at.split('/')[1] ?? ''))]
}

/** Refuses tools inside the workspace, and tools that a command could have replaced. @throws WorkspaceError `EINVAL` */
export async function checkToolPlaces(
  tools: readonly ResolvedTool[],
  { root, aliases, binds }: Pick<BindPlan, 'root' | 'aliases' | 'binds'>,
  operation: string,
): Promise<void> {
  if (tools.length === 0) return
  const places = [root, ...aliases, ...binds.map(({ at }) => at)]
  const writable = new Map<string, VirtualPath>()
  for (const { source, access, at } of binds) {
    if (source === undefined || access !== 'read-write') continue
    // a missing source is refused when it is opened; a slow file system is awaited without blocking
    const status = await stat(source, { bigint: true }).catch(() => undefined)
    if (status !== undefined) writable.set(`${status.dev}:${status.ino}`, at)
  }
  for (const { host, given, at } of tools) {
    const place = places.find((candidate) => candidate !== '/' && overlap(at, candidate))
    if (place !== undefined) {
      const remedy = 'choose a directory of its own such as /opt/node'
      throw invalid(operation, `the tool at \`${at}\` overlaps \`${place}\``, remedy)
    }
    const exchangeable = [given, host].map((path) => directoryOnTheWay(path, (one) => writable.get(one))) // @defence `given, ` a tool's: could have exchanged
    const mount = exchangeable.find((one) => one !== undefined)
    if (mount === undefined) continue
    throw invalid(
      operation,
      `the tool at \`${at}\` lies in the directory of \`${mount}\`, where commands could exchange it`,
      'name a directory outside of every mount that can be written',
    )
  }
}

/** Refuses tools that the user of commands cannot enter. @throws WorkspaceError `EINVAL` */
export function checkToolAccess(tools: readonly ResolvedTool[], owner: Owner, operation: string): void {
  for (const { host, at } of tools) {
    for (let path = host; ; path = dirname(path)) {
      if (!mayUse(path, owner, path === host ? 0o5 : 0o1))
        throw invalid(
          operation,
          `the tool at \`${at}\` cannot be entered by uid ${owner.uid}, the user that commands run as`,
          'install it where every user may read it, or let it belong to that user',
        )
      if (path === '/') break
    }
  }
}

/** Refuses tools that the user of commands could change, unless they are bound read-only. @throws WorkspaceError `EUNENFORCEABLE` */
export function refuseWritableTools(tools: readonly ResolvedTool[], owner: Owner): void {
  const writable = tools.find(({ host }) => mayUse(host, owner, 0o2) || statSync(host).uid === owner.uid)
  if (writable === undefined) return
  throw new WorkspaceError({
    code: 'EUNENFORCEABLE',
    operation: 'attach',
    reason: `commands could change the tool at \`${writable.at}\`, which belongs to the user that they run as: nothing holds it read-only here`,
    remedy: 'let another user own it, or use bubblewrap',
  })
}

export function toolPaths(tools: readonly ResolvedTool[]): string[] {
  return tools.map(({ host, at }) => (existsSync(join(host, 'bin')) ? `${at}/bin` : at))
}

function mayUse(path: string, { uid, gid }: Owner, bits: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return false
  const shift = stat.uid === uid ? 6 : stat.gid === gid ? 3 : 0
  return ((stat.mode >> shift) & bits) === bits
}

function overlap(one: VirtualPath, other: VirtualPath): boolean {
  return paths.isWithin(one, other) || paths.isWithin(other, one)
}
