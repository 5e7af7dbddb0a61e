import type { ConnectionVerdict } from '../executor/contract.ts'
import { invalidOption } from '../options/check.ts'
import type { ExplainRequest, Explanation } from '../workspace/types.ts'
import type { CommandDoor } from './commands.ts'

const defaultPort = 443

/** Gives the executor's answer about a connection of commands. */
export function explainConnection(
  { context, executor }: CommandDoor,
  { host, port = defaultPort }: ExplainRequest,
): Explanation {
  if (host === undefined) throw invalidOption('explain', 'host', 'the name of a host', host)
  const level = executor?.attached.guarantees.network
  const common = { resolvedPath: context.root, enforcedBy: { files: 'interpreter' as const, exec: level } }
  const verdict = executor?.attached.explainConnection?.(host, port) ?? withoutList(level)
  if (verdict.effect === 'allow') return { ...common, effect: 'allow', entry: verdict.entry }
  const { reason, remedy } = verdict
  return { ...common, effect: 'deny', rule: 'network', code: 'EACCES', reason, remedy }
}

function withoutList(
  level: string | undefined,
): ConnectionVerdict | { readonly effect: 'allow'; readonly entry?: undefined } {
  if (level === 'none') return { effect: 'allow' }
  return {
    effect: 'deny',
    reason: 'cannot be reached: commands have no network',
    remedy: 'give the bubblewrap executor a list of hosts (`network: { allow: [...] }`)',
  }
}
