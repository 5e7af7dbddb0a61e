import { isWorkspaceError } from '@ws/core'
import type { Change } from '@ws/core'
import { escapeUnprintable, showName } from '@ws/core/executor'
import { z } from 'zod'

import type { Outcome } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'
import type { Json } from '../types.ts'
import { changedList, namedChanges } from '../text/changed.ts'
import { fenced } from '../text/frame.ts'
import { changes as changesFiles, faceTool, readsOnly } from './face.ts'
import type { FaceTool } from './face.ts'

const mostNamed = 200
const longestDiff = 20_000

const since = z.string().min(1).optional().describe('Id of a checkpoint. Default: the latest one')
const paths = z.array(z.string().min(1)).max(100).optional().describe('Only these, with everything below. Default: all')

export function createCheckpointTools(): readonly FaceTool[] {
  return [changesTool, restoreTool]
}

const changesTool = faceTool({
  name: 'changes',
  description:
    'Names the files that are different from a checkpoint, by commands or calls, and lists the checkpoints. With `diff` it shows the lines too.',
  input: z.strictObject({ since, paths, diff: z.boolean().optional().describe('Show a unified diff. Default false') }),
  example: {},
  annotations: readsOnly,
  async run(call, { since: from, paths: only, diff = false }) {
    const { workspace, signal } = call
    const checkpoints = await workspace.checkpoints()
    const found = await workspace.changes({ since: from, paths: only, signal })
    const text = [
      found.length === 0 ? 'Nothing is different.' : named(call, found),
      `Checkpoints, the latest last:\n${checkpoints
        .slice(-20)
        .map(({ id, label, createdAt }) =>
          `${id}  ${new Date(createdAt).toISOString()}  ${showName(label ?? '')}`.trimEnd(),
        )
        .join('\n')}`,
    ]
    if (diff && found.length > 0) text.push(await diffOf())
    return { text: text.join('\n\n'), data: { changes: found.slice(0, mostNamed).map(dataOf) } }

    async function diffOf(): Promise<string> {
      const parts: string[] = []
      let left = longestDiff
      for (const path of only ?? [undefined]) {
        const part = await workspace.diff({ since: from, path, signal })
        const shown = fenced(part.slice(0, left).toWellFormed().replace(/\n$/u, ''))
        parts.push(part.length > left ? `${shown}\n[more is different: give \`paths\`]` : shown)
        left -= part.length
        if (left <= 0) break
      }
      return parts.join('\n')
    }
  },
})

const restoreTool = faceTool({
  name: 'restore',
  description:
    'Brings files back to a checkpoint, all or those that you name. The present is saved first, so that a restore can be undone. With `dry_run` it only says what would be restored.',
  input: z.strictObject({
    checkpoint: z.string().min(1).describe('Id of a checkpoint, as `changes` lists them'),
    paths,
    dry_run: z.boolean().optional().describe('Change nothing. Default false'),
  }),
  example: { checkpoint: 'c0123456789' },
  annotations: changesFiles,
  async run(call, { checkpoint, paths: only, dry_run: dryRun = false }) {
    const { workspace, signal } = call
    const { restored, kept, undo } = await workspace.restore(checkpoint, { paths: only, dryRun, signal })
    for (const { path, kind, from } of dryRun ? [] : restored) {
      if (kind === 'created') call.record({ change: 'deleted', path })
      else if (kind === 'moved' && from !== undefined) call.record({ change: 'moved', path: from, from: path })
      else call.record({ change: kind === 'deleted' ? 'created' : 'updated', path })
    }
    const lines = [
      restored.length === 0
        ? 'Nothing was different.'
        : `${dryRun ? 'Would take back' : 'Took back'}:\n${named(call, restored)}`,
      ...kept
        .slice(0, mostNamed)
        .map(({ path, reason }) => `Left as it is: ${call.show(path)}: ${escapeUnprintable(reason)}`),
      ...(undo === undefined ? [] : [`To undo this, restore ${undo}.`]),
    ]
    return { text: lines.join('\n'), data: { restored: restored.slice(0, mostNamed).map(dataOf), undo } }
  },
})

export async function withChanges(outcome: Outcome, since: string, call: Call): Promise<Outcome> {
  const { workspace, signal } = call
  try {
    const found = await workspace.changes({ since, signal })
    if (found.length === 0) return outcome
    const text = `${outcome.text}\n${changedList(found, { show: (path) => call.show(path), rest: 'see `changes`' })}`
    return { ...outcome, text, data: { ...outcome.data, changes: found.slice(0, mostNamed).map(dataOf) } }
  } catch (error) {
    // the output of the command matters more than the list
    if (!isWorkspaceError(error)) throw error
    return { ...outcome, text: `${outcome.text}\n[its changes are not known: ${escapeUnprintable(error.reason)}]` }
  }
}

function named(call: Call, found: readonly Change[]): string {
  return namedChanges(found, { most: mostNamed, rest: 'give `paths`', show: (path) => call.show(path) })
}

function dataOf({ kind, path, type, from, what }: Change): Json {
  return { kind, path, type, from, what }
}
