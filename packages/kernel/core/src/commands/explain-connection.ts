import type { ConnectionVerdict } from '../contract/executor.ts'
import { satisfies } from '../contract/guarantees.ts'
import { admitCall } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import { invalidOption } from '../options/check.ts'
import { closes, HostList, readHosts, unlistedHost } from '../policy/host-list.ts'
import type { Connections, ConnectionsOptions, ExplainRequest, Explanation } from '../contract/workspace.ts'
import { recordConnection } from './command-audit.ts'
import type { CommandDoor } from './admission.ts'
import { describeUnheld } from './enforcement.ts'

const defaultPort = 443

/** Explains whether commands, or a tool with its own host list, may connect to a host. Evaluates the executor's list and the rules. */
export function explainConnection(door: CommandDoor, { host, port = defaultPort, hosts }: ExplainRequest): Explanation {
  if (host === undefined) throw invalidOption('explain', 'host', 'the name of a host', host)
  const { context, executor } = door
  const level = executor?.attached.guarantees.network
  const rules = context.gate.hostRules()
  const isHeld = hosts !== undefined || level === undefined || satisfies(level, 'names')
  const common = {
    resolvedPath: context.root,
    enforcedBy: { files: 'interpreter' as const, exec: level },
    ...(!isHeld &&
      rules.length > 0 && {
        unenforceable: rules.map(({ name: rule }) => ({
          rule,
          ...describeUnheld({ rule, path: context.root, field: 'network' }, executor?.name ?? ''),
        })),
      }),
  }
  const verdict = judgeBy(door, hosts)(host, port)
  if (verdict.effect === 'allow') return { ...common, effect: 'allow', entry: verdict.entry }
  const { rule = 'network', reason, remedy } = verdict
  return { ...common, effect: 'deny', rule, code: 'EACCES', reason, remedy }
}

/** Decides about connections of a tool as {@link explainConnection} does, and audits them. */
export function connectionsOf(door: CommandDoor, options: ConnectionsOptions = {}): Connections {
  const { context } = door
  checkMethod('connections', 'connections', options)
  admitCall(context, 'connections', undefined)
  const { path = context.root, hosts } = options
  const judge = judgeBy(door, hosts)
  return {
    judge(host, port) {
      const verdict = judge(host, port)
      if (verdict.effect === 'deny' || verdict.judgesRequests !== true) return verdict
      const reason = 'has rules for requests (`network.requests`), which commands alone can follow'
      return { effect: 'deny', rule: 'network', reason, remedy: 'ask it by a command, such as `curl`' }
    },
    report: (report) => recordConnection(context, report, { door: 'files', path }),
  }
}

function judgeBy(
  { context, executor }: CommandDoor,
  hosts: ConnectionsOptions['hosts'],
): (host: string, port: number) => ConnectionVerdict {
  const own = hosts === undefined ? undefined : listedIn(hosts)
  return (host, port) => {
    const verdict =
      own?.(host, port) ??
      executor?.attached.explainConnection?.(host, port) ??
      withoutList(executor?.attached.guarantees.network)
    if (verdict.effect === 'deny') return verdict
    const rules = [...context.gate.hostRules(), ...(context.attempt?.hostRules ?? [])]
    const closed = rules.find((rule) => closes(rule, host, port))
    if (closed === undefined) return verdict // @defence `if (…) ` a tool that downloads from a host: that a rule closes
    return { effect: 'deny', rule: closed.name, ...unlistedHost(host, port, closed) }
  }
}

function listedIn(hosts: NonNullable<ConnectionsOptions['hosts']>): (host: string, port: number) => ConnectionVerdict {
  if (hosts === 'public') return () => ({ effect: 'allow' })
  const list = new HostList(readHosts(hosts, { operation: 'connections', option: 'hosts' }))
  return (host, port) => {
    const entry = list.find(host, port)
    if (entry !== undefined) return { effect: 'allow', entry: entry.text }
    return { effect: 'deny', rule: 'downloads', ...unlistedHost(host, port, undefined, 'downloads') }
  }
}

function withoutList(level: string | undefined): ConnectionVerdict {
  if (level === 'none') return { effect: 'allow' }
  return {
    effect: 'deny',
    reason: 'cannot be reached: commands have no network',
    remedy: 'give the bubblewrap or virtual executor a list of hosts (`network: { allow: [...] }`)',
  }
}
