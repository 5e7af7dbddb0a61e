import { WorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'

import { faceNames, type FaceName } from './face-names.ts'
import type { ToolsOptions } from './types.ts'

/** Timers take 24 days at most. */
const longestWithin = 2_000_000_000

/** @throws WorkspaceError `EINVAL` */
export function checkOptions(
  face: FaceName,
  { commands, maxContext, checkpoints, changes, shell, approve, decideWithin = longestWithin }: ToolsOptions,
  { keepsCheckpoints }: Workspace,
): void {
  const fail = (reason: string, remedy: string): WorkspaceError =>
    new WorkspaceError({ code: 'EINVAL', operation: 'createTools', reason, remedy })
  if (!faceNames.includes(face)) {
    throw fail(`\`face\` must be one of ${faceNames.map((one) => `\`${one}\``).join(', ')}`, 'give one of them')
  }
  if (face === 'openai' && commands === false) {
    throw fail('the face `openai` reads files by commands', 'allow commands, or choose another face')
  }
  if (shell !== undefined && shell !== 'command' && shell !== 'session') {
    throw fail('`shell` must be `command` or `session`', 'give one of them, or leave it out for `command`')
  }
  if (approve !== undefined && typeof approve !== 'function') {
    throw fail('`approve` must be a function', 'give a function that gets a request and returns a decision')
  }
  if (!Number.isSafeInteger(decideWithin) || decideWithin < 1 || decideWithin > longestWithin) {
    throw fail(`\`decideWithin\` must be an integer from 1 to ${longestWithin}`, 'give milliseconds')
  }
  const needing =
    checkpoints === true ? 'checkpoints' : changes === true ? 'changes' : approve === undefined ? undefined : 'approve'
  if (needing !== undefined && !keepsCheckpoints) {
    throw fail(
      'the workspace keeps no checkpoints',
      `make it with \`checkpoints: createCheckpoints({ stateDirectory })\` of \`@ws/snapshots\`, or leave out the option \`${needing}\` here`,
    )
  }
  if (maxContext === undefined || (Number.isSafeInteger(maxContext) && maxContext >= 100)) return
  throw fail('`maxContext` must be a whole number from 100', 'give the tokens of the context')
}
