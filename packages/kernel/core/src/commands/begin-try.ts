import { type Attempt, type Context, perform } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import { normaliseCommand } from './command.ts'
import type { ChosenExecutor } from './enforcement.ts'
import { satisfies } from '../contract/guarantees.ts'
import type { Try, TryOptions } from '../contract/tries.ts'
import type { Command, Workspace } from '../contract/workspace.ts'
import { virtualError } from '../mount/errors.ts'
import { begun, refuseBusy } from '../checkpoints/busy.ts'
import type { CheckpointParts } from '../checkpoints/door.ts'
import { ForkTry, type TryFork } from '../checkpoints/fork-try.ts'
import type { TryView } from '../checkpoints/one-try.ts'
import { OpenTry } from '../checkpoints/open-try.ts'
import { withoutEngine } from '../checkpoints/select.ts'

const defaultWithin = 3_600_000

export interface TryDoor {
  readonly context: Context
  readonly parts: CheckpointParts | undefined
  readonly executor: ChosenExecutor | undefined
  /** The ids of running commands and sessions. */
  readonly busy: readonly string[]
  readonly hasOtherWriter: boolean
  readonly viewOf: (attempt: Attempt) => TryView
  readonly fork: (signal: AbortSignal | undefined) => Promise<TryFork>
  /** The open tries in forks. */
  readonly tries: Set<Pick<Attempt, 'close'>>
}

export async function beginTry(
  door: TryDoor,
  given: Command | ((workspace: Workspace) => Promise<unknown>),
  options: TryOptions = {},
): Promise<Try<unknown>> {
  checkMethod(typeof given === 'function' ? 'tryFunction' : 'try', 'try', options)
  const { exclusive = false, fork = false, network = false, decideWithin = defaultWithin, ...rest } = options
  const { context, viewOf } = door
  const { signal } = rest
  return perform(context, { operation: 'try', path: context.root, signal }, async () => {
    const line = typeof given === 'function' ? undefined : normaliseCommand(given, rest.shell).line
    const parts = fork ? undefined : admitted(door, exclusive)
    const level = door.executor?.attached.guarantees.network
    if (!network && level !== undefined && !satisfies(level, 'names')) throw openNetwork(door.executor?.name ?? '')
    const hostRules = !network && level === 'names' ? [{ kind: 'hosts', name: 'try', hosts: [] } as const] : []
    const work = typeof given === 'function' ? given : (view: Workspace) => view.exec(given, rest)
    if (parts !== undefined)
      return new OpenTry({ context, parts, line, hostRules, decideWithin, viewOf }).run(work, signal)
    const made = await door.fork(signal)
    const attempt = new ForkTry({ ...made, line, hostRules, decideWithin, tries: door.tries })
    if (context.state.isClosed) await attempt.close()
    return attempt.run(work)
  })
}

function admitted({ context, parts, busy, hasOtherWriter }: TryDoor, exclusive: boolean): CheckpointParts {
  if (context.attempt !== undefined)
    throw refused('EBUSY', 'cannot begin inside a try', 'call `checkpoint` and `restore` in it')
  if (parts === undefined) throw withoutEngine('try')
  if (parts.mounts.length === 0)
    throw refused('EROFS', 'has nothing to try, because no mount is writable', 'run the command with `exec`')
  if (hasOtherWriter)
    throw refused(
      'EBUSY',
      'cannot begin, because another workspace of this process can change the same files',
      'close that workspace, or make it read-only',
    )
  if (!exclusive && parts.mounts.some(({ adapter }) => adapter?.capabilities.inProcess !== true))
    throw refused(
      'EINVAL',
      'cannot know whether other programs change the files meanwhile, and a drop would take their work back',
      'pass `exclusive: true` if nothing else changes them',
    )
  refuseBusy('try', [...busy, ...begun(context)], 'changing calls, commands or sessions')
  return parts
}

function refused(code: 'EBUSY' | 'EROFS' | 'EINVAL', reason: string, remedy: string): Error {
  return virtualError({ code, operation: 'try', reason, remedy })
}

function openNetwork(executor: string): Error {
  return virtualError({
    code: 'EUNENFORCEABLE',
    operation: 'try',
    reason: `commands in ${executor} share the network of this machine, and what they do there cannot be taken back`,
    remedy: 'use the bubblewrap executor without `network: "host"`, or allow the network with `network: true`',
  })
}
