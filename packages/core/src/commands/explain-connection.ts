import type { ConnectionVerdict } from '../executor/contract.ts'
import { satisfies } from '../executor/guarantees.ts'
import { invalidOption } from '../options/check.ts'
import { listOf, unlistedHost } from '../policy/host-list.ts'
import type { ExplainRequest, Explanation } from '../workspace/types.ts'
import type { CommandDoor } from './commands.ts'
import { describeUnheld } from './enforcement.ts'

const defaultPort = 443

/** Gives the answer of the executor and of the rules about a connection of commands. */
export function explainConnection(
  { context, executor }: CommandDoor,
  { host, port = defaultPort }: ExplainRequest,
): Explanation {
  if (host === undefined) throw invalidOption('explain', 'host', 'the name of a host', host)
  const level = executor?.attached.guarantees.network
  const rules = context.gate.hostRules()
  const isHeld = level === undefined || satisfies(level, 'names')
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
  const verdict = executor?.attached.explainConnection?.(host, port) ?? withoutList(level)
  const closed = rules.find((rule) => listOf(rule).find(host, port) === undefined)
  if (verdict.effect === 'allow' && closed === undefined) return { ...common, effect: 'allow', entry: verdict.entry }
  const { reason, remedy } = verdict.effect === 'deny' ? verdict : unlistedHost(host, port, closed?.name)
  const rule = verdict.effect === 'deny' ? 'network' : closed?.name
  return { ...common, effect: 'deny', rule, code: 'EACCES', reason, remedy }
}

function withoutList(
  level: string | undefined,
): ConnectionVerdict | { readonly effect: 'allow'; readonly entry?: undefined } {
  if (level === 'none') return { effect: 'allow' }
  return {
    effect: 'deny',
    reason: 'cannot be reached: commands have no network',
    remedy: 'give the bubblewrap or virtual executor a list of hosts (`network: { allow: [...] }`)',
  }
}
