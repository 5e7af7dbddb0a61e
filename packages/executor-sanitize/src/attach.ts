import type { VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import {
  execError,
  type AttachedExecutor,
  type BindPlan,
  type CommandRequest,
  type StartedCommand,
} from '@ws/core/executor'
import { resolveShell, startProcess } from '@ws/process'
import {
  type BindSource,
  checkReadOnlyMounts,
  confineArgv,
  type HeldBind,
  HeldWork,
  isSystemProgram,
  type LandlockRule,
  openBindSource,
  offersExtendedAttributes,
  sandboxProgram,
  sharedDevices,
  sharedProcFiles,
  systemTree,
} from '@ws/sandbox'
import type { HostPath } from '@ws/core/executor'

import { createEnvironment } from './environment.ts'
import { guaranteesOf, neededAbi } from './guarantees.ts'
import { lacksOf } from './lacks.ts'
import type { ResolvedOptions } from './options.ts'
import { PathView } from './paths/path-view.ts'
import { Refusal } from './refusal.ts'
import { createOutput, followCommand } from './running.ts'
import { sanitize, type SanitizeOptions } from './sanitize.ts'

const harmlessFiles = ['/etc/nsswitch.conf', '/etc/hosts', '/etc/resolv.conf', ...sharedProcFiles]

/**
 * The files that commands may read, run and write besides the workspace: the system's programs and a few files that
 * everybody has.
 */
function systemRules(root: VirtualPath, owner: Owner): LandlockRule[] {
  const rules: LandlockRule[] = []
  for (const entry of systemTree({ root, owner })) {
    // Links lead to granted files; a file that is made up for a view (`/etc/passwd`) is not there.
    if (entry.kind === 'directory' || entry.kind === 'file')
      rules.push({ source: entry.source, access: ['read', 'execute'], optional: true })
  }
  for (const [name, access] of Object.entries(sharedDevices))
    rules.push({ source: `/dev/${name}`, access, optional: true })
  for (const source of harmlessFiles) rules.push({ source, access: ['read'], optional: true })
  return rules
}

export interface AttachOptions {
  readonly options: ResolvedOptions
  readonly root: VirtualPath
  /** Never uid 0. */
  readonly owner: Owner
  /** 0: commands run without Landlock. */
  readonly landlockAbi: number
}

/** Bytes of a mapped command at most: it is one argument of the shell. */
const longestCommand = 128 * 1024 - 1

export function attachSanitize(attachment: AttachOptions): AttachedExecutor {
  return new AttachedSanitize(attachment)
}

class AttachedSanitize implements AttachedExecutor {
  readonly guarantees
  readonly lacks: string
  readonly #attachment: AttachOptions
  readonly #systemRules: readonly LandlockRule[]
  readonly #work = new HeldWork()

  constructor(attachment: AttachOptions) {
    this.#attachment = attachment
    this.guarantees = guaranteesOf(attachment.landlockAbi)
    this.lacks = lacksOf(attachment.options)
    this.#systemRules = attachment.landlockAbi > 0 ? systemRules(attachment.root, attachment.owner) : []
  }

  spawn(request: CommandRequest, plan: BindPlan): Promise<StartedCommand> {
    return this.#work.hold((stop) => this.#start(request, plan, stop), request.signal)
  }

  close(): Promise<void> {
    return this.#work.end()
  }

  /** @param stop nothing is started any more once it is aborted */
  async #start(request: CommandRequest, plan: BindPlan, stop: AbortSignal): Promise<StartedCommand> {
    const { options, owner, landlockAbi } = this.#attachment
    const view = new PathView(plan)
    const shell = chooseShell(request.shell)
    const bash = shell.endsWith('/bash')
    const env = createEnvironment({
      view,
      cwd: request.cwd,
      cache: request.cache,
      shell,
      env: request.env,
      allow: options.env,
      trustsAll: options.trust === 'all',
      bare: request.bare === true,
    })
    const sources: BindSource[] = []
    try {
      const rules: LandlockRule[] = [...this.#systemRules]
      // Held by descriptor before the command is judged: a directory that is exchanged afterwards is not granted.
      const held: HeldBind[] = []
      for (const { at, host, access } of view.mounts) {
        const source = await openBindSource({ path: host, type: 'directory', at })
        sources.push(source)
        held.push({ bind: { kind: 'mount', at, access }, host, source })
        rules.push({
          source: { fd: source.fd },
          access: access === 'read-write' ? ['read', 'write', 'execute'] : ['read', 'execute'],
        })
      }
      checkReadOnlyMounts(plan, held, { executor: 'sanitize', landlock: landlockAbi >= neededAbi })
      const cwd = await openBindSource({ path: directoryOf(view, request.cwd), type: 'directory', at: request.cwd })
      sources.push(cwd)
      const command = mapCommand(request, { view, trust: options.trust, bash, env })
      stop.throwIfAborted()
      const confined = confineArgv({
        argv: bash ? [shell, '--noprofile', '--norc', '-c', command] : [shell, '-c', command],
        env,
        seccomp: sandboxProgram({
          extendedAttributes: offersExtendedAttributes(plan),
          // Landlock grants descriptors for reading, and those can change attributes in a read-only mount.
          attributeChanges: view.mounts.every(({ access }) => access === 'read-write'),
        }),
        limits: options.limits,
        owner,
        supervise: true,
        killGrace: request.killGrace,
        landlock: landlockAbi > 0 ? { rules } : undefined,
      })
      const output = createOutput(view.mounts, request)
      const process = startProcess({
        ...confined,
        // The directory that was looked at, even if another one has its name now.
        cwd: `/proc/${globalThis.process.pid}/fd/${cwd.fd}`,
        stdin: request.stdin ?? 'none',
        timeout: request.timeout,
        signal: request.signal,
        killGrace: request.killGrace,
        drainGrace: 0,
        // Kept here, after paths were put right.
        maxOutputBytes: 0,
        onStdout: output.onStdout,
        onStderr: output.onStderr,
      })
      return followCommand({ process, output })
    } finally {
      for (const source of sources) source.close()
    }
  }
}

function directoryOf(view: PathView, cwd: VirtualPath): HostPath {
  const host = view.hostOf(cwd)
  if (host !== undefined) return (host.length > 1 ? host.replace(/\/+$/, '') : host) as HostPath
  throw execError('ENOEXEC', 'is not a directory on this machine', {
    path: cwd,
    remedy: 'give a directory of a mount as `cwd`',
  })
}

/** Only shells whose lines are read as they read them. There are no start-up files, login shell or not [X8]. */
function chooseShell(asked: string | undefined): string {
  const shell = asked === undefined ? defaultShell() : resolveShell({ shell: asked, existsInView: isSystemProgram })
  if (/\/(?:bash|sh|dash)$/.test(shell)) return shell
  throw execError('EINVAL', 'this executor reads commands as bash, sh and dash do, and no other shell', {
    remedy: 'leave `shell` out, or use an executor with a view (bubblewrap, proot)',
  })
}

function defaultShell(): string {
  return ['/bin/bash', '/usr/bin/bash', '/bin/sh', '/usr/bin/sh'].find(isSystemProgram) ?? '/bin/sh'
}

function mapCommand(
  request: CommandRequest,
  options: Pick<SanitizeOptions, 'view' | 'trust' | 'bash' | 'env'>,
): string {
  try {
    const command = sanitize(request.command, { ...options, cwd: request.cwd })
    if (Buffer.byteLength(command) <= longestCommand) return command
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const code = error.kind === 'syntax' ? 'EINVAL' : 'EUNENFORCEABLE'
    throw execError(code, error.message, { remedy: error.remedy })
  }
  throw execError('EINVAL', `the command is longer than ${longestCommand} bytes with its paths mapped`, {
    remedy: 'split it, or use an executor with a view (bubblewrap, proot)',
  })
}
