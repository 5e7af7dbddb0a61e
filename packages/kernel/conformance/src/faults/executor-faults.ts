import { WorkspaceError } from '@ws/core'
import { type Executor, guaranteeFields, type Guarantees, type HostPath } from '@ws/core/executor'
import { bindFaults } from './bind-faults.ts'
import { claimedEnds } from './claimed-ends.ts'
import { survivingRun } from './early-end.ts'
import {
  changeCommand,
  changeExecutor,
  changePlan,
  changeRequest,
  changeResult,
  type ExecutorFault,
} from './executor-fault.ts'
import { lastMomentFaults } from './last-moment-faults.ts'
import { moreExecutorFaults } from './more-executor-faults.ts'

const allKernel = Object.fromEntries(guaranteeFields.map((field) => [field, 'kernel'])) as unknown as Guarantees

const resultFaults: readonly ExecutorFault[] = [
  {
    name: 'loses the exit code',
    caughtBy: 'give the exit code, and never reject for it',
    apply: (inner) => changeResult(inner, (result) => ({ ...result, exitCode: result.exitCode === null ? null : 0 })),
  },
  {
    name: 'rejects where the exit code is not 0',
    caughtBy: 'give the exit code, and never reject for it',
    apply: (inner) =>
      changeResult(inner, (result) => {
        if (result.exitCode !== 0) throw new Error(`exit ${result.exitCode}`)
        return result
      }),
  },
  {
    name: 'merges standard error into standard output',
    caughtBy: 'keep standard output and standard error apart',
    apply: (inner) =>
      changeResult(inner, (result) => ({ ...result, stdout: result.stdout + result.stderr, stderr: '' })),
  },
  {
    name: 'cuts output without a word',
    caughtBy: 'keep the head and the tail of output that is too long, and say so',
    apply: (inner) => changeResult(inner, (result) => ({ ...result, truncated: false })),
  },
  {
    name: 'ignores standard input',
    caughtBy: 'is text, bytes or chunks, and comes whole',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, stdin: undefined })),
  },
  {
    name: 'leaves standard input open where none is given',
    caughtBy: 'ends at once where none is given',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, stdin: request.stdin ?? neverEnding() })),
  },
  {
    name: 'lets the environment of the parent through',
    caughtBy: '[RP16] holds nothing of this process',
    apply: (inner) =>
      changeRequest(inner, (request) => {
        const own = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']))
        return { ...request, env: { ...own, ...request.env } }
      }),
  },
  {
    name: 'starts in the root whatever `cwd` says',
    caughtBy: 'is the one that was asked for',
    apply: (inner) =>
      changeExecutor(inner, {
        attached: ({ spawn }, { root }) => ({ spawn: (request, plan) => spawn({ ...request, cwd: root }, plan) }),
      }),
  },
  {
    name: 'pastes the command into a line of its own',
    caughtBy: '[LS4] a command line is one argument, with any text in it',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, command: `{ ${request.command}; }` })),
  },
  {
    name: 'never starts a login shell',
    caughtBy: 'a login shell reads its start-up file, another does not',
    base: 'process',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, login: false })),
  },
  {
    name: 'says that it is available, and cannot run anything',
    caughtBy: '[PC13] an available executor runs commands',
    apply: (inner) =>
      changeExecutor(inner, {
        attached: () => ({
          spawn: () => Promise.reject(new WorkspaceError({ code: 'ENOEXEC', operation: 'exec', reason: 'is missing' })),
        }),
      }),
  },
  {
    name: 'does not say how to mend what is missing',
    caughtBy: 'an unavailable executor says what is missing and how to mend it, and claims nothing',
    on: 'unavailable',
    apply: (inner) => changeExecutor(inner, { probe: (report) => ({ ...report, howToFix: [] }) }),
  },
  {
    name: 'claims guarantees where it cannot run',
    caughtBy: 'an unavailable executor says what is missing and how to mend it, and claims nothing',
    on: 'unavailable',
    apply: (inner) => changeExecutor(inner, { probe: (report) => ({ ...report, guarantees: allKernel }) }),
  },
]

const endFaults: readonly ExecutorFault[] = [
  {
    name: 'ignores the timeout',
    caughtBy: 'a timeout ends the command and says so',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, timeout: undefined })),
  },
  {
    name: 'does not say that the timeout was it',
    caughtBy: 'a timeout ends the command and says so',
    apply: (inner) => changeResult(inner, (result) => ({ ...result, timedOut: false })),
  },
  {
    name: 'swallows aborts',
    caughtBy: 'an abort rejects with its reason, after the command has ended',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, signal: undefined })),
  },
  {
    name: 'rejects an aborted command while it still runs',
    caughtBy: 'an abort rejects with its reason, after the command has ended',
    apply: (inner) =>
      changeExecutor(inner, {
        attached: ({ spawn }) => ({
          async spawn({ signal, ...request }, plan) {
            const running = await spawn(request, plan)
            const aborted = new Promise<never>((_, reject) => {
              signal?.addEventListener('abort', () => reject(signal.reason as Error))
            })
            aborted.catch(() => undefined)
            return {
              ...running,
              kill: (name) => running.kill(name),
              wait: () => Promise.race([running.wait(), aborted]),
            }
          },
        }),
      }),
  },
  {
    name: 'answers kill and does nothing',
    caughtBy: 'kill ends the command with that signal, and is false when it has ended',
    apply: (inner) => changeCommand(inner, () => ({ kill: () => true })),
  },
  {
    name: 'leaves what runs running when it is closed',
    caughtBy: 'closing ends what runs',
    apply: (inner) =>
      changeExecutor(inner, {
        attached: ({ spawn }) => ({
          close: async () => undefined,
          async spawn(request, plan) {
            const running = await spawn(request, plan)
            return {
              ...running,
              kill: () => true,
              wait: () => running.wait(),
              [Symbol.asyncDispose]: async () => undefined,
            }
          },
        }),
      }),
  },
  {
    name: 'leaves survivors',
    caughtBy: 'nothing that the command started survives its normal end',
    base: 'process',
    apply: (inner) => changeExecutor(inner, { attached: ({ spawn }) => ({ spawn: survivingRun(spawn) }) }),
  },
  {
    name: 'leaves a file of its own behind',
    caughtBy: 'commands leave nothing in the store but what they wrote',
    apply: (inner) =>
      changeExecutor(inner, {
        attached: ({ spawn }, { files }) => ({
          async spawn(request, plan) {
            await files.write('.command-123', '')
            return spawn(request, plan)
          },
        }),
      }),
  },
]

const boundaryFaults: readonly ExecutorFault[] = [
  {
    name: 'mounts read-only mounts for writing',
    caughtBy: 'readOnlyMounts: a protected part is neither changed nor given away',
    base: 'process',
    apply: (inner) =>
      changePlan(inner, (plan) => ({
        ...plan,
        binds: plan.binds.map((bind) => (bind.kind === 'mount' ? { ...bind, access: 'read-write' } : bind)),
      })),
  },
  {
    name: 'knows no subtrees but its mounts',
    caughtBy: 'subtrees: a protected part is neither changed nor given away',
    base: 'process',
    apply: (inner) =>
      changePlan(inner, (plan) => ({ ...plan, binds: plan.binds.filter(({ kind }) => kind !== 'subtree') })),
  },
  {
    name: 'ignores masks',
    caughtBy: 'deniedSubtrees: a protected part is neither changed nor given away',
    base: 'process',
    apply: (inner) =>
      changePlan(inner, (plan) => ({
        ...plan,
        binds: plan.binds.filter(({ kind }) => kind !== 'mask' && kind !== 'closed'),
      })),
  },
  {
    name: 'lets an ancestor of a denied part be renamed away',
    caughtBy: 'is neither read nor changed by › mv work moved',
    base: 'process',
    apply: (inner) =>
      changePlan(inner, (plan) => ({ ...plan, binds: plan.binds.filter(({ kind }) => kind !== 'pin') })),
  },
  {
    name: 'claims that the kernel holds everything',
    caughtBy: 'apiRules: a protected part is neither changed nor given away',
    base: 'process',
    apply: (inner) =>
      changeExecutor(inner, {
        probe: (report) => ({ ...report, guarantees: allKernel }),
        attached: () => ({ guarantees: allKernel }),
      }),
  },
  {
    name: 'promises more in the probe than to the workspace',
    caughtBy: 'the guarantees of the probe are those of the workspace',
    base: 'process',
    apply: (inner) => changeExecutor(inner, { probe: (report) => ({ ...report, guarantees: allKernel }) }),
  },
]

/** The host directory that contains all temporary test directories. */
const hostTemporary = '/tmp' as HostPath

/** Shows the host's `/tmp` to commands. The kit's files there must be out of reach for commands. */
const withHostTmp = (inner: Executor): Executor =>
  changePlan(inner, (plan) => ({
    ...plan,
    binds: plan.binds.map((bind) => (bind.kind === 'scratch' ? { ...bind, source: hostTemporary } : bind)),
  }))

const hostFaults: readonly ExecutorFault[] = [
  { name: 'shows files of the host', caughtBy: 'fileContent: nothing outside the mounts is read' },
  { name: 'lets files of the host be changed', caughtBy: 'fileContent: nothing outside the mounts is changed' },
  { name: 'lets links lead to the host', caughtBy: 'fileContent: links lead nowhere outside' },
  { name: 'tells what the host has', caughtBy: 'fileMetadata: an outside path cannot be told from a missing one' },
  { name: 'gives a socket of the host away', caughtBy: 'sockets: no socket of the host is reached' },
].map((fault) => ({ ...fault, base: 'process', apply: withHostTmp }))

async function* neverEnding(): AsyncGenerator<Uint8Array> {
  await new Promise(() => undefined)
  yield new Uint8Array()
}

export const executorFaults: readonly ExecutorFault[] = [
  ...resultFaults,
  ...endFaults,
  ...boundaryFaults,
  ...hostFaults,
  ...bindFaults,
  ...claimedEnds,
  ...moreExecutorFaults,
  ...lastMomentFaults,
]
