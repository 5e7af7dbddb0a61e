import type { VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { execError, type BindPlan, type HostPath } from '@ws/core/executor'
import {
  type CommandDriver,
  type CommandPort,
  type CommandRun,
  confineArgv,
  type ConfinedTarget,
  HostPaths,
  isSystemProgram,
  Landlock,
  type LocalCommand,
  resolveShell,
  sandboxProgram,
  startLocal,
  systemTree,
} from '@ws/sandbox'

import { sanitize, type SanitizeOptions } from './commands/analyse.ts'
import { isHarmless } from './commands/variables.ts'
import { createEnvironment } from './environment.ts'
import { type Machine, neededAbi } from './guarantees.ts'
import { lacksOf } from './lacks.ts'
import type { ResolvedOptions } from './options.ts'
import { PathView, type ViewMount } from './paths/path-view.ts'
import { Refusal } from './refusal.ts'
import { createStripper } from './strip.ts'

const harmlessFiles = ['/etc/nsswitch.conf', '/etc/hosts', '/etc/resolv.conf', ...Landlock.sharedProcFiles]

/** Returns rules for readable paths besides the workspace: the system's programs and a few public files. */
function systemRules(root: VirtualPath, owner: Owner): Landlock.LandlockRule[] {
  const rules: Landlock.LandlockRule[] = []
  for (const entry of systemTree({ root, owner })) {
    // Omits links, whose targets have their own rules, and files that only a view has (`/etc/passwd`).
    if (entry.kind === 'directory' || entry.kind === 'file')
      rules.push({ source: entry.source, access: ['read', 'execute'], optional: true })
  }
  for (const [name, access] of Object.entries(Landlock.sharedDevices))
    rules.push({ source: `/dev/${name}`, access, optional: true })
  for (const source of harmlessFiles) rules.push({ source, access: ['read'], optional: true })
  return rules
}

/** Maximum bytes of a mapped command, which is one argument of the shell. */
const longestCommand = 128 * 1024 - 1

type DriverRequest = Parameters<CommandDriver['prepare']>[1]

type Mapped = LocalCommand & { readonly mounts: readonly ViewMount[] }

export function attachSanitize(
  { root, owner }: ConfinedTarget,
  { landlockAbi }: Machine,
  options: ResolvedOptions,
): CommandDriver {
  const ownRules = landlockAbi > 0 ? systemRules(root, owner) : []
  return {
    facts: { lacks: lacksOf(options) },
    prepare,
    start: (prepared, run) => Promise.resolve(startMapped(prepared as Mapped, run)),
  }

  async function prepare(plan: BindPlan, request: DriverRequest): Promise<Mapped> {
    const view = new PathView(plan)
    const shell = chooseShell(request.shell)
    const bash = shell.endsWith('/bash')
    const { cwd, cache, killGrace } = request
    const { env: allow, trust } = options
    const bare = request.bare === true
    const env = createEnvironment({
      view,
      cwd,
      cache,
      shell,
      env: request.env,
      allow,
      trustsAll: trust === 'all',
      bare,
    })
    const sources: HostPaths.BindSource[] = []
    const close = () => sources.forEach((source) => source.close())
    try {
      const rules: Landlock.LandlockRule[] = [...ownRules]
      // Opens mounts before checking the command: a directory that replaces a mount later has no grant.
      const held: Landlock.HeldBind[] = []
      for (const { at, host, access } of view.mounts) {
        const source = await HostPaths.openBindSource({ path: host, type: 'directory', at })
        sources.push(source)
        held.push({ bind: { kind: 'mount', at, access }, host, source })
        rules.push({
          source: { fd: source.fd },
          access: access === 'read-write' ? ['read', 'write', 'execute'] : ['read', 'execute'],
        })
      }
      Landlock.checkReadOnlyMounts(plan, held, { executor: 'sanitize', landlock: landlockAbi >= neededAbi })
      const directory = await HostPaths.openBindSource({ path: directoryOf(view, cwd), type: 'directory', at: cwd })
      sources.push(directory)
      const command = mapCommand(request, { view, trust, bash, env, shell })
      request.signal?.throwIfAborted()
      const confined = confineArgv({
        argv: bash ? [shell, '--noprofile', '--norc', '-c', command] : [shell, '-c', command],
        env,
        seccomp: sandboxProgram({
          extendedAttributes: HostPaths.offersExtendedAttributes(plan),
          // A descriptor that Landlock grants for reading could change attributes in a read-only mount, so the filter refuses such changes.
          attributeChanges: view.mounts.every(({ access }) => access === 'read-write'),
        }),
        limits: options.limits,
        owner,
        supervise: true,
        killGrace,
        landlock: landlockAbi > 0 ? { rules } : undefined,
      })
      // The descriptor leads to the checked directory, even if another directory has its name now.
      return { process: { ...confined, cwd: `/proc/${process.pid}/fd/${directory.fd}` }, mounts: view.mounts, close }
    } catch (error) {
      close()
      throw error
    }
  }
}

/** Starts a command whose output has workspace paths in place of host paths. */
function startMapped(command: Mapped, run: CommandRun): CommandPort {
  const [stdout, stderr] = [createStripper(command.mounts), createStripper(command.mounts)]
  const port = startLocal(command, {
    ...run,
    onStdout: (chunk) => run.onStdout(stdout.push(chunk)),
    onStderr: (chunk) => run.onStderr(stderr.push(chunk)),
  })
  const handOnRest = () => {
    void run.onStdout(stdout.end())
    void run.onStderr(stderr.end())
  }
  return Object.assign(port, { exited: port.exited.finally(handOnRest) })
}

function directoryOf(view: PathView, cwd: VirtualPath): HostPath {
  const host = view.hostOf(cwd)
  if (host !== undefined) return (host.length > 1 ? host.replace(/\/+$/, '') : host) as HostPath
  throw execError('ENOEXEC', 'is not a directory on this machine', {
    path: cwd,
    remedy: 'give a directory of a mount as `cwd`',
  })
}

/** Returns the shell. Accepts only shells that this package can parse. No shell reads start-up files, not even a login shell [X8]. */
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
  request: DriverRequest,
  { shell, ...options }: Pick<SanitizeOptions, 'view' | 'trust' | 'bash' | 'env'> & { readonly shell: string },
): string {
  try {
    const mapped = sanitize(request.command, { ...options, cwd: request.cwd })
    // The analysis takes the values of the environment for constant.
    const keeps = (name: string): boolean => isHarmless(name) && !Object.hasOwn(options.env, name)
    const command = request.inState?.(mapped, shell, keeps) ?? mapped
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
