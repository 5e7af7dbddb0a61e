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
import { OpenTry, type TryView } from '../checkpoints/open-try.ts'
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
}

export async function beginTry(
  door: TryDoor,
  given: Command | ((workspace: Workspace) => Promise<unknown>),
  options: TryOptions = {},
): Promise<Try<unknown>> {
  checkMethod(typeof given === 'function' ? 'tryFunction' : 'try', 'try', options)
  const { exclusive = false, network = false, decideWithin = defaultWithin, ...rest } = options
  const { context, viewOf } = door
  const { signal } = rest
  return perform(context, { operation: 'try', path: context.root, signal }, async () => {
    const line = typeof given === 'function' ? undefined : normaliseCommand(given, rest.shell).line
    const parts = admitted(door, exclusive)
    const level = door.executor?.attached.guarantees.network
    if (!network && level !== undefined && !satisfies(level, 'names')) throw openNetwork(door.executor?.name ?? '')
    const hostRules = !network && level === 'names' ? [{ kind: 'hosts', name: 'try', hosts: [] } as const] : []
    const attempt = new OpenTry({ context, parts, line, hostRules, decideWithin, viewOf })
    return attempt.run(typeof given === 'function' ? given : (view) => view.exec(given, rest), signal)
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
