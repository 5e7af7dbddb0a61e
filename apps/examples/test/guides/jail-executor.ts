import { type BindPlan, type CommandRequest, noGuarantees } from '@ws/core/executor'
import { commandLine, type ConfinedTarget, defineExecutor, Descriptors, type DescriptorSource } from '@ws/sandbox'
import { HostPaths, isSystemProgram, type LocalCommand, resolveShell, sandboxProgram } from '@ws/sandbox'
import { systemTree, unavailable, viewEnvironment } from '@ws/sandbox'

const held = { fileContent: 'kernel', fileMetadata: 'kernel', sockets: 'kernel', network: 'kernel' } as const

/** Makes executors that run commands in a jail of bubblewrap, for workspaces with their root below `/`. */
export const createJailExecutor = defineExecutor<object, true>({
  name: 'jail',
  programs: ['bwrap'],
  async probe({ root }, _options, tryOut) {
    if (root === '/') return unavailable('a mount at `/`', 'mount the workspace at `/workspace`')
    const { problem } = await tryOut(true, 'true')
    return problem === undefined ? { found: true } : unavailable(problem, 'apt-get install bubblewrap')
  },
  guarantees: () => ({ ...noGuarantees, ...held, processes: 'kernel', readOnlyMounts: 'translated' }),
  attach: (target) => ({ prepare: (plan, request) => prepare(plan, request, target) }),
})

async function prepare(plan: BindPlan, request: CommandRequest, { owner }: ConfinedTarget): Promise<LocalCommand> {
  const shell = resolveShell({ shell: request.shell, existsInView: isSystemProgram })
  const env = viewEnvironment({ ...request, root: plan.root, shell })
  const { argv, extraFds } = commandLine(request, { shell, env })
  const fds = new Map<number, DescriptorSource>([...extraFds, [5, sandboxProgram({ interprocess: true })], [4, 'pipe']])
  const give = (source: DescriptorSource): string => {
    fds.set(fds.size + 10, source)
    return String(fds.size + 9)
  }
  const system = systemTree({ root: plan.root, owner, shell }).flatMap((entry) => {
    if (entry.kind === 'link') return ['--symlink', entry.target, entry.at]
    if (entry.kind === 'data') return ['--perms', '0444', '--file', give(entry.content), entry.at]
    return ['--ro-bind', entry.source, entry.at]
  })
  const shown = plan.binds.flatMap(({ kind, source: path, type, at, access }) =>
    path !== undefined && (kind === 'mount' || kind === 'scratch') ? [{ path, type, at, access }] : [],
  )
  const sources = await HostPaths.openBindSources(shown)
  const flag = (access: string) => (access === 'read-write' ? '--bind-fd' : '--ro-bind-fd')
  const binds = shown.flatMap(({ at, access }, index) => [flag(access), give(sources[index]?.fd ?? -1), at])
  const options = [
    ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--clearenv'],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...[...system, '--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--tmpfs', '/tmp', ...binds],
    ...['--remount-ro', '/', '--chdir', request.cwd, '--seccomp', '5', '--json-status-fd', '4'],
  ]
  fds.set(3, Buffer.from(options.map((option) => `${option}\0`).join('')))
  // Polite signals go to the whole process group: bubblewrap leaves them to the command.
  const jail = ['/usr/bin/env', '--ignore-signal=HUP,INT,QUIT,TERM,USR1,USR2', '/usr/bin/bwrap', '--args', '3', '--']
  return {
    owner,
    process: { argv: [...jail, '/usr/bin/env', '--default-signal', ...argv], extraFds: fds },
    readEnd({ pipes }) {
      const status = Descriptors.collect(pipes.get(4))
      const codeOf = () => /"exit-code": (\d+)/.exec(status.text())?.[1]
      return () => (codeOf() === undefined ? { unstarted: true } : { shellStatus: Number(codeOf()) })
    },
    close: () => sources.forEach((source) => source.close()),
  }
}
