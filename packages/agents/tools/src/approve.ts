import type { Change, RestoreResult, Try } from '@ws/core'
import { isWorkspaceError } from '@ws/core'
import { type Asked, askedIn, escapeUnprintable, granting } from '@ws/core/executor'

import { ToolProblem } from './answers/problem.ts'
import { hold } from './session/held-calls.ts'
import { orAborted } from './session/queue.ts'
import type { Call } from './session/session.ts'
import { namedChanges } from './text/changed.ts'
import { fenced } from './text/frame.ts'
import type { Approval, ApprovalRequest, ToolAnswer, ToolsOptions } from './types.ts'

const mostNamed = 200
/** Limit of runs of one call with more and more grants. */
const mostGrants = 10
/** The time to decide ends before the time of the try, whose timer is for a drop that failed. */
const graceMs = 60_000

interface ApprovedCall {
  readonly call: Call
  readonly input: unknown
  readonly approve: NonNullable<ToolsOptions['approve']>
  readonly run: (call: Call) => Promise<ToolAnswer>
}

/** Runs a call, and asks whether its changes count. @throws ToolProblem for a drop; the signal's reason after an abort */
export async function approved(options: ApprovedCall): Promise<ToolAnswer> {
  const { call, run } = options
  const { held, workspace } = call.session
  return held.inTurn(call, async () => {
    const granted: Asked[] = []
    for (let runs = 1; ; runs += 1) {
      let inside = call
      const attempt = await hold(call, (one) => run((inside = one)), { graceMs, granted })
      const { result: answer, changes, connections } = attempt
      const refused = runs > mostGrants ? [] : refusalsOf(answer, inside, connections)
      const asked = askedIn(granting(workspace, granted), refused)
      const hidden = hiddenBy(inside, changes)
      if (changes.length === 0 && asked.length === 0 && hidden.length === 0) {
        await attempt.keep()
        return answer
      }
      const decision = await held.deciding(() => decided(attempt, { asked, changes: [...changes, ...hidden] }, options))
      if (decision !== 'granted') return decision
      granted.push(...asked)
    }
  })
}

/** Returns the known refusals by rules: the error of the call, the rules in the results of its commands, and refused hosts. */
function refusalsOf(
  { isError, data }: ToolAnswer,
  { refusals }: Call,
  connections: Try<unknown>['connections'],
): readonly Asked[] {
  const error = isError && data?.['code'] === 'EACCES' && typeof data['rule'] === 'string' ? data : undefined
  const own = error && ({ rule: error['rule'], path: error['path'] } as Asked)
  const hosts = connections.flatMap(({ outcome, rule, host, port }) =>
    outcome === 'denied' && rule !== undefined ? [{ rule, host, port }] : [],
  )
  return [...(own === undefined ? [] : [own]), ...refusals, ...hosts]
}

/** Returns the new entries of a call's commands that a rule hides from now on. */
function hiddenBy({ refusals }: Call, shown: readonly Change[]): readonly Change[] {
  const made = refusals.flatMap(({ kind, path }) => (kind === 'created' && path !== undefined ? [path] : []))
  const hidden = made.filter((path) => !shown.some((change) => change.path === path))
  return [...new Set(hidden)].map((path): Change => ({ kind: 'created', path, type: 'file' }))
}

interface Effects {
  readonly asked: readonly Asked[]
  readonly changes: readonly Change[]
}

async function decided(
  attempt: Try<ToolAnswer>,
  effects: Effects,
  options: ApprovedCall,
): Promise<ToolAnswer | 'granted'> {
  const { call } = options
  const { asked } = effects
  let decision: Approval | Refusal
  try {
    decision = await decisionOf(attempt, effects, options)
  } catch (error) {
    await attempt[Symbol.asyncDispose]()
    throw error
  }
  if ('failed' in decision || decision.decision === 'drop' || decision.paths?.length === 0)
    return dropped(attempt, await attempt.drop(), { decision, call })
  const { paths, message, grant } = decision
  if (grant === true && asked.length > 0) {
    const { kept } = await attempt.drop()
    if (kept.length === 0) return 'granted'
    return dropped(attempt, { kept }, { decision: { failed: 'it could not run again from the start' }, call })
  }
  try {
    const result = await attempt.keep(paths)
    return paths === undefined ? withWords(attempt.result, message) : partly(attempt, result, { message, call })
  } catch (error) {
    const { kept } = await attempt.drop()
    if (!isWorkspaceError(error, 'EINVAL') && !isWorkspaceError(error, 'EOUTSIDE')) throw error
    const failed = 'the approval named a path that the call did not change'
    return dropped(attempt, { kept }, { decision: { failed }, call })
  }
}

/** Why there is no decision: printed directly after "because ". */
interface Refusal {
  readonly failed: string
  readonly message?: undefined
}

async function decisionOf(
  attempt: Try<ToolAnswer>,
  { asked, changes }: Effects,
  { call, input, approve }: ApprovedCall,
): Promise<Approval | Refusal> {
  const { session, signal, tool, number } = call
  const { result: answer, leftOut, connections, diff } = attempt
  const { decideWithin } = session.options
  const time = AbortSignal.timeout(decideWithin)
  const ends = AbortSignal.any([time, session.closed, ...(signal === undefined ? [] : [signal])])
  const request: ApprovalRequest = {
    ...{ tool, input, call: number, answer, changes, leftOut, connections, diff },
    ...{ asked, signal: ends },
  }
  try {
    ends.throwIfAborted()
    const asking = (async () => approve(request))()
    asking.catch(() => undefined) // for an approval that fails after the end
    const given: unknown = await orAborted(asking, ends)
    return isApproval(given) ? given : { failed: 'the approval gave an answer that is not a decision' }
  } catch {
    signal?.throwIfAborted()
    if (session.closed.aborted) return { failed: 'the tools were closed' }
    if (time.aborted) return { failed: `no decision came within ${decideWithin} ms` }
    return { failed: 'the approval failed' }
  }
}

function isApproval(value: unknown): value is Approval {
  if (typeof value !== 'object' || value === null) return false
  const { decision, paths, grant, message } = value as { readonly [Name in keyof Approval]: unknown }
  const isPlain =
    (message === undefined || typeof message === 'string') && (grant === undefined || typeof grant === 'boolean')
  if (decision === 'drop') return isPlain && paths === undefined && grant !== true
  // an empty path would be the root, and keep all
  const isList = Array.isArray(paths) && paths.every((path) => typeof path === 'string' && path !== '')
  return decision === 'keep' && isPlain && (paths === undefined || (isList && grant !== true))
}

function dropped(
  { changes }: Try<ToolAnswer>,
  { kept }: Pick<RestoreResult, 'kept'>,
  { decision, call }: { readonly decision: Approval | Refusal; readonly call: Call },
): never {
  const failed = 'failed' in decision ? decision.failed : undefined
  const left = kept.map(({ path, reason }) => `Left as it is: ${call.show(path)}: ${escapeUnprintable(reason)}`)
  const words = wordsOf(decision.message)
  throw new ToolProblem({
    sentence:
      failed !== undefined
        ? `The effects of this call were taken back, because ${failed}`
        : changes.length === 0
          ? 'A person was asked, and did not allow this call'
          : 'A person looked at the changes of this call, and took them back',
    remedy: `the files are as before the call, except ${left.length === 0 ? '' : 'as named below and '}in \`/tmp\`; ${failed === undefined ? 'do it another way, or ask the user' : 'tell the user'}`,
    next: { operation: 'list', arguments: { path: '.' } },
    details: [...words, ...left.slice(0, mostNamed)].join('\n'),
    data: { code: 'EACCES', approval: failed === undefined ? 'dropped' : 'failed' },
  })
}

function partly(
  { result: answer, changes }: Try<ToolAnswer>,
  { restored, kept }: RestoreResult,
  { message, call }: { readonly message: string | undefined; readonly call: Call },
): ToolAnswer {
  const gone = new Set(restored.map(({ path }) => path))
  const named = (of: typeof changes) =>
    namedChanges(of, { most: mostNamed, rest: 'look at the files', show: (path) => call.show(path) })
  const lines = [
    'A person kept a part of these changes, and took back the others.',
    ...wordsOf(message),
    `kept:\n${named(changes.filter(({ path }) => !gone.has(path)))}`,
    `taken back:\n${named(restored)}`,
    ...kept.map(({ path, reason }) => `left as it is: ${call.show(path)}: ${escapeUnprintable(reason)}`),
  ]
  const { next: _, ...rest } = answer
  return {
    ...rest,
    text: `${answer.text}\n[note: ${lines.join('\n')}]`,
    data: { ...answer.data, approval: 'partly' },
  }
}

function withWords(answer: ToolAnswer, message: string | undefined): ToolAnswer {
  const words = wordsOf(message)
  return words.length === 0 ? answer : { ...answer, text: `${answer.text}\n[note: ${words.join('\n')}]` }
}

function wordsOf(message: string | undefined): readonly string[] {
  return message === undefined || message.trim() === '' ? [] : [`The person says: ${fenced(message.trim())}`]
}
