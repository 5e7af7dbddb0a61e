import type { Approval, ApprovalRequest } from '@ws/tools'

import { UsageError } from '../errors.ts'
import type { Output } from '../terminal/output.ts'
import type { Style } from '../terminal/style.ts'
import { coloured } from './checkpoints.ts'
import { terminalAsk } from './init/questions.ts'

/** Limit of characters of a diff. */
export const longestDiff = 4_000
export const keepQuestion = 'Keep these changes? y: all; n: none; or the paths to keep [n] '
const grantQuestion = 'Allow what the rule refused, for this call alone, and run it again? y or n [n] '

/** @throws UsageError without a terminal @param others the options that need none */
export function checkTerminal({ json }: Output, others: string): void {
  if (json || !process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError(`there is no terminal to ask on; ${others}`)
}

/** The paths to keep, or all or none of the changes. The end of the input is none. */
export function keptBy(answer: string | undefined): 'all' | 'none' | readonly string[] {
  const given = answer?.trim() ?? ''
  if (/^(?:n|no)?$/iu.test(given)) return 'none'
  return isYes(given) ? 'all' : given.split(/\s+/u)
}

const isYes = (answer: string | undefined): boolean => /^y(?:es)?$/iu.test(answer?.trim() ?? '')

/** Asks if a command or call may do what rules refused that ask. */
export async function isGranted(signal: AbortSignal): Promise<boolean> {
  using terminal = terminalAsk(signal)
  return isYes(await terminal.ask(grantQuestion))
}

/** Shows the effects of a tool's call on standard error, and asks about them. */
export function approveOn(style: Style): (request: ApprovalRequest) => Promise<Approval> {
  return async (request) => {
    const { describeEffects } = await import('@ws/tools/bridge')
    process.stderr.write(`${coloured(await describeEffects(request, { diffCharacters: longestDiff }), style)}\n`)
    if (request.asked.length > 0 && (await isGranted(request.signal))) return { decision: 'keep', grant: true }
    if (request.changes.length === 0) return { decision: 'drop' }
    using terminal = terminalAsk(request.signal)
    const kept = keptBy(await terminal.ask(keepQuestion))
    if (kept === 'none') return { decision: 'drop' }
    return { decision: 'keep', ...(kept !== 'all' && { paths: kept }) }
  }
}
