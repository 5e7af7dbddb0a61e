import { WorkspaceError } from '@ws/core'
import type { DescriptorSource, ExtraDescriptors, LoaderStatus } from '../../run/types.ts'
import { openPrivateFile } from '../../run/descriptors.ts'
import { perl } from '../../run/perl-helper.ts'
import { validateDescriptors, validateEnvironment } from '../../run/validate.ts'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { invalid } from '../../errors.ts'
import type { LandlockPolicy } from '../types.ts'
import { encodeFields, type Field } from './encode.ts'
import { landlockFields } from './landlock.ts'
import { type ProcessLimits, limitFields } from './limits.ts'
import { loaderSyscalls } from './syscalls.ts'

export interface ConfineOptions {
  /** The command and its arguments. `argv[0]` must be an absolute path. */
  readonly argv: readonly string[]
  /** All environment variables of the command. The loader itself runs without variables. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly landlock?: LandlockPolicy | undefined
  /** A filter from {@link sandboxProgram}. */
  readonly seccomp?: Uint8Array | undefined
  /** Resource limits. No core file is written unless `coreBytes` allows one. */
  readonly limits?: ProcessLimits | undefined
  /** As root: the uid and gid of the command. A supervisor remains root, so the command cannot signal it. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined
  /** As root, without `owner`: the command is root without capabilities, so it has rights only over root's files. Default false. */
  readonly dropCapabilities?: boolean | undefined
  /** The loader remains the command's parent. It kills every descendant when the command or this process ends. Default false. */
  readonly supervise?: boolean | undefined
  /** With `supervise`: milliseconds between TERM and KILL. Default 500. */
  readonly killGrace?: number | undefined
  /** Without `supervise`: kill the command when the thread that started it ends. Default false. */
  readonly dieWithParent?: boolean | undefined
  /** Descriptors of the command besides 0–2. All other descriptors are closed. */
  readonly extraFds?: ExtraDescriptors | undefined
}

/** Options to spread into those of {@link startProcess}. */
export interface ConfinedCommand {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly extraFds: ExtraDescriptors
  readonly status: LoaderStatus
}

let loader: string | undefined
let supervisor: string | undefined
const operation = 'exec'
const defaultKillGrace = 500

/**
 * Wraps a command in the loader, which closes descriptors, drops the uid, sets no-new-privs, applies Landlock and seccomp, and supervises.
 * If a step fails, the command does not run, and `wait()` rejects with `ENOEXEC`.
 *
 * Start the result only once, without delay, with `startProcess({ ...confineArgv(…), … })`: it holds a descriptor until the run ends.
 * @throws WorkspaceError `EINVAL`; `ENOTSUP` without perl, or without a call table for this architecture
 */
export function confineArgv(options: ConfineOptions): ConfinedCommand {
  validateConfine(options)
  const numbers = loaderSyscalls()
  const supervise = options.supervise === true
  if (!existsSync(perl)) {
    throw new WorkspaceError({
      code: 'ENOTSUP',
      operation,
      reason: 'perl is not installed',
      remedy: 'install perl-base',
    })
  }
  loader ??= readFileSync(new URL('loader.pl', import.meta.url), 'utf8')
  supervisor ??= readFileSync(new URL('supervise.pl', import.meta.url), 'utf8')
  const kept = options.extraFds ?? new Map<number, DescriptorSource>()
  const extraFds = new Map(kept)
  let next = Math.max(9, ...kept.keys())
  const allot = (source: DescriptorSource): number => {
    extraFds.set(++next, source)
    return next
  }
  const fields: Field[] = [
    ...Object.entries(numbers).map(([name, number]): Field => [`n.${name}`, number]),
    ...options.argv.map((argument): Field => ['a', argument]),
    ...Object.entries(options.env ?? {}).map(([name, value]): Field => ['e', `${name}=${value}`]),
    ...[...kept.keys()].map((fd): Field => ['k', fd]),
    ...limitFields(options.limits ?? {}),
    ...landlockFields(options.landlock, allot),
    ...ownerFields(options.owner),
    ...(options.dropCapabilities ? [['plain_root', 1] satisfies Field] : []),
    ...supervisionFields(options),
  ]
  if (options.seccomp !== undefined) fields.push(['seccomp', options.seccomp])
  // Checks the next two descriptor numbers before this function opens a file.
  validateDescriptors([next + 1, next + 2], operation)
  const statusFile = openPrivateFile()
  fields.push(['status', allot(statusFile)])
  const orders = allot(encodeFields(fields))
  return {
    // perl compiles the script at each start, so the script must be small
    argv: [perl, '-e', loader + (supervise ? supervisor : 'confine($o{parent} + 0);'), String(orders)],
    env: {},
    extraFds,
    status: { fd: statusFile, supervised: supervise },
  }
}

function ownerFields(owner: ConfineOptions['owner']): Field[] {
  if (owner === undefined || (process.getuid?.() === owner.uid && process.getgid?.() === owner.gid)) return []
  return [
    ['uid', owner.uid],
    ['gid', owner.gid],
  ]
}

function supervisionFields(options: ConfineOptions): Field[] {
  const fields: Field[] = [['parent', process.pid]]
  if (options.supervise) fields.push(['grace', options.killGrace ?? defaultKillGrace])
  else if (options.dieWithParent) fields.push(['death_signal', constants.signals.SIGKILL])
  return fields
}

function validateConfine(options: ConfineOptions): void {
  const { argv, env, landlock, seccomp, owner, killGrace } = options
  if (!argv[0]?.startsWith('/')) throw invalid(operation, 'the program must be an absolute path', 'resolve it first')
  if (argv.some((argument) => argument.includes('\0'))) throw invalid(operation, 'an argument contains NUL')
  validateEnvironment(env ?? {}, operation)
  validateDescriptors(options.extraFds?.keys() ?? [], operation)
  if (seccomp !== undefined && (seccomp.length === 0 || seccomp.length % 8 !== 0 || seccomp.length > 4096 * 8))
    throw invalid(operation, 'the seccomp program is not 1 to 4,096 instructions of 8 bytes')
  for (const { source } of landlock?.rules ?? []) {
    if (typeof source === 'string' && (!source.startsWith('/') || source.includes('\0')))
      throw invalid(operation, 'a Landlock rule needs an absolute path without NUL')
  }
  if (owner !== undefined && [owner.uid, owner.gid].some((id) => !Number.isInteger(id) || id < 0 || id > 0xfffffffe))
    throw invalid(operation, 'uid and gid of the owner must be whole numbers')
  if (killGrace !== undefined && (!Number.isInteger(killGrace) || killGrace < 0))
    throw invalid(operation, '`killGrace` must be a whole number')
}
