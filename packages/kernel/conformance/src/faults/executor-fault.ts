import type {
  AttachedExecutor,
  BindPlan,
  CommandRequest,
  Executor,
  ExecutorResult,
  ProbeReport,
  StartedCommand,
  WorkspaceView,
} from '@ws/core/executor'

export interface ExecutorFault {
  readonly name: string
  readonly caughtBy: string
  /** `process`: the fault is visible only with real processes. Default: with every executor. */
  readonly base?: 'process' | undefined
  /** `unavailable`: for an executor that cannot run. Default: for a working executor. */
  readonly on?: 'unavailable' | undefined
  readonly apply: (executor: Executor) => Executor
}

export interface ExecutorChanges {
  readonly probe?: (report: ProbeReport) => ProbeReport
  readonly attached?: (attached: AttachedExecutor, view: WorkspaceView) => Partial<AttachedExecutor>
}

export function changeExecutor(inner: Executor, changes: ExecutorChanges): Executor {
  return {
    name: inner.name,
    kind: inner.kind,
    async probe(target) {
      const report = await inner.probe(target)
      return changes.probe?.(report) ?? report
    },
    async attach(view) {
      const attached = await inner.attach(view)
      const plain: AttachedExecutor = {
        guarantees: attached.guarantees,
        spawn: (request, plan) => attached.spawn(request, plan),
        close: () => attached.close(),
      }
      return { ...plain, ...changes.attached?.(plain, view) }
    },
  }
}

export const changeRequest = (inner: Executor, change: (request: CommandRequest) => CommandRequest): Executor =>
  changeExecutor(inner, { attached: ({ spawn }) => ({ spawn: (request, plan) => spawn(change(request), plan) }) })

export const changePlan = (inner: Executor, change: (plan: BindPlan) => BindPlan): Executor =>
  changeExecutor(inner, { attached: ({ spawn }) => ({ spawn: (request, plan) => spawn(request, change(plan)) }) })

export function changeRunning(running: StartedCommand, methods: Partial<StartedCommand>): StartedCommand {
  return {
    stdout: running.stdout,
    stderr: running.stderr,
    output: () => running.output(),
    kill: (signal) => running.kill(signal),
    wait: () => running.wait(),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
    ...methods,
  }
}

export const changeCommand = (
  inner: Executor,
  change: (running: StartedCommand, request: CommandRequest) => Partial<StartedCommand>,
): Executor =>
  changeExecutor(inner, {
    attached: ({ spawn }) => ({
      async spawn(request, plan) {
        const running = await spawn(request, plan)
        return changeRunning(running, change(running, request))
      },
    }),
  })

export const changeResult = (inner: Executor, change: (result: ExecutorResult) => ExecutorResult): Executor =>
  changeCommand(inner, (running) => ({ wait: async () => change(await running.wait()) }))
