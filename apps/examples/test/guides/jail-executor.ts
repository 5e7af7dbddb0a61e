import { rootPath, type WorkspaceError } from '@ws/core'
import { execError } from '@ws/core/executor'
import type { AttachedExecutor, BindPlan, CommandRequest, Executor, Guarantees } from '@ws/core/executor'
import type { ExecutorResult, StartedCommand } from '@ws/core/executor'
import { createCommandOutput, resolveShell, shellInvocation, startProcess } from '@ws/process'
import type { CommandOutputs, DescriptorSource, RunningProcess } from '@ws/process'
import { type ConfinedTarget, defineConfinedExecutor, HeldWork, isSystemProgram, unavailable } from '@ws/sandbox'
import { openBindSources, sandboxProgram, systemTree, viewEnvironment } from '@ws/sandbox'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'

const guarantees: Guarantees = {
  ...{ fileContent: 'kernel', fileMetadata: 'kernel', sockets: 'kernel', network: 'kernel', processes: 'kernel' },
  ...{ readOnlyMounts: 'translated', subtrees: 'none', deniedSubtrees: 'none', apiRules: 'none' },
}

const bwrap = '/usr/bin/bwrap'

const createExecutor = defineConfinedExecutor<object, true>({
  name: 'jail',
  programs: ['bwrap'],
  async probe(target) {
    if (target.root === '/') return unavailable('a mount at `/`', 'mount the workspace at `/workspace`')
    if (!existsSync(bwrap)) return unavailable('bubblewrap is not installed', 'apt-get install bubblewrap')
    const plan: BindPlan = { root: target.root, binds: [], aliases: [], restrictions: [], renameBorders: [] }
    const request = { command: 'true', cwd: rootPath, env: {}, login: false, timeout: 10_000, killGrace: 500 }
    const running = await start({ ...request, maxOutputBytes: 4096 }, plan, target)
    const result = await running.wait().catch(() => undefined)
    if (result?.exitCode !== 0) return unavailable('user namespaces are not permitted', 'use another executor')
    return { machine: true, report: { available: true, guarantees, missing: [], howToFix: [], details: {} } }
  },
  attach(target): AttachedExecutor {
    const work = new HeldWork()
    return {
      guarantees,
      spawn: (request, plan) => work.hold((signal) => start({ ...request, signal }, plan, target), request.signal),
      close: () => work.end(),
    }
  },
})

/** Runs commands in a jail of bubblewrap, for workspaces with their root below `/`. */
export function createJailExecutor(): Executor {
  return createExecutor({})
}

/** Descriptors of bubblewrap. A command that is too long for an argument takes number 9. */
const descriptors = { options: 3, status: 4, seccomp: 5, first: 10 }

async function start(request: CommandRequest, plan: BindPlan, target: ConfinedTarget): Promise<StartedCommand> {
  const shell = resolveShell({ shell: request.shell, existsInView: isSystemProgram })
  const { argv, extraFds } = shellInvocation(shell, request.command, request)
  const env = viewEnvironment({ root: plan.root, cwd: request.cwd, shell, env: request.env, bare: request.bare })
  const fds = new Map<number, DescriptorSource>([...extraFds, [descriptors.status, 'pipe']])
  fds.set(descriptors.seccomp, sandboxProgram({ interprocess: true }))
  const give = (source: DescriptorSource): string => {
    const next = Math.max(descriptors.first, ...fds.keys()) + 1
    fds.set(next, source)
    return String(next)
  }
  const system = systemTree({ root: plan.root, owner: target.owner, shell }).flatMap((entry) => {
    if (entry.kind === 'link') return ['--symlink', entry.target, entry.at]
    if (entry.kind === 'data') return ['--perms', '0444', '--file', give(entry.content), entry.at]
    return ['--ro-bind', entry.source, entry.at]
  })

  const shown = plan.binds.flatMap(({ kind, source, type, at, access }) =>
    source !== undefined && (kind === 'mount' || kind === 'scratch') ? [{ path: source, type, at, access }] : [],
  )
  const sources = await openBindSources(shown)
  try {
    const binds = sources.flatMap(({ fd }, index) => {
      const { at, access } = shown[index] ?? { at: plan.root, access: 'none' }
      return [access === 'read-write' ? '--bind-fd' : '--ro-bind-fd', give(fd), at]
    })
    const options = [
      ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--clearenv'],
      ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
      ...[...system, '--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--tmpfs', '/tmp', ...binds],
      ...['--remount-ro', '/', '--chdir', request.cwd],
      ...['--seccomp', String(descriptors.seccomp), '--json-status-fd', String(descriptors.status)],
    ]
    fds.set(descriptors.options, Buffer.from(options.map((option) => `${option}\0`).join('')))

    const signals = 'HUP,INT,QUIT,TERM,USR1,USR2'
    const jail = ['/usr/bin/env', `--ignore-signal=${signals}`, bwrap, '--args', String(descriptors.options), '--']
    const output = createCommandOutput(request)
    const running = startProcess({
      argv: [...jail, '/usr/bin/env', `--default-signal=${signals}`, ...argv],
      ...(process.getuid?.() === 0 ? target.owner : {}),
      extraFds: fds,
      stdin: request.stdin ?? 'none',
      timeout: request.timeout,
      killGrace: request.killGrace,
      maxOutputBytes: 4096,
      signal: request.signal,
      onStdout: output.onStdout,
      onStderr: output.onStderr,
    })
    return follow(running, output)
  } finally {
    for (const source of sources) source.close()
  }
}

function follow(running: RunningProcess, output: CommandOutputs): StartedCommand {
  const sent = new Set<NodeJS.Signals>()
  let status = ''
  running.pipes.get(descriptors.status)?.on('data', (chunk: Buffer) => (status += chunk.toString()))

  async function finish(): Promise<ExecutorResult> {
    try {
      const ended = await running.wait()
      if (ended.timedOut) sent.add('SIGTERM')
      const code = /"exit-code": (\d+)/.exec(status)?.[1]
      if (code === undefined && sent.size === 0) throw notStarted(ended.stderr.text)
      const isCause = (name: NodeJS.Signals) => code === String(128 + constants.signals[name])
      const signal = code === undefined ? 'SIGKILL' : [...sent].find(isCause)
      return {
        exitCode: signal === undefined ? Number(code) : null,
        signal: signal ?? null,
        ...output.end(),
        timedOut: ended.timedOut,
        duration: ended.duration,
        executor: 'jail',
        ...(ended.survivors && { survivors: true }),
      }
    } finally {
      output.end()
    }
  }

  const result = finish()
  result.catch(() => undefined)
  const kill = (signal: NodeJS.Signals): boolean => {
    sent.add(signal)
    return running.kill(signal)
  }
  return {
    ...output.readers,
    kill: (signal = 'SIGTERM') => kill(signal),
    get survivors() {
      return running.survivors
    },
    wait: () => result,
    async [Symbol.asyncDispose]() {
      kill('SIGKILL')
      await result.catch(() => undefined)
    },
  }
}

function notStarted(native: string): WorkspaceError {
  const reason = 'bubblewrap could not start the command'
  const remedy = 'ask the probe of the executor what is missing'
  return execError('ENOEXEC', reason, { remedy, native: new Error(native) })
}
