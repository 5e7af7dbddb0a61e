import { quotePath } from '@ws/core'
import { z } from 'zod'

import { ToolProblem } from '../../answers/problem.ts'
import type { Outcome } from '../../answers/problem.ts'
import { changeFiles } from '../../changing/change-files.ts'
import type { FileChange } from '../../changing/plan-files.ts'
import { refuseRoot } from '../../operations/transfer.ts'
import { applyHunks } from '../../patching/apply-hunks.ts'
import { linesOfDiff, parsePatch } from '../../patching/envelope.ts'
import type { FilePatch } from '../../patching/envelope.ts'
import { addedContent, parseHunks, PatchProblem } from '../../patching/hunks.ts'
import type { Call, Change } from '../../session/session.ts'
import { changes, faceTool } from '../face.ts'
import type { FaceTool } from '../face.ts'

const name = 'apply_patch'
const example = '*** Begin Patch\n*** Update File: src/app.ts\n@@\n-const a = 1\n+const a = 2\n*** End Patch'

const fields = {
  type: z.enum(['create_file', 'update_file', 'delete_file']).optional().describe('The change of one file'),
  path: z.string().min(1).optional().describe('The path of that file'),
  diff: z.string().optional().describe('Its diff in the V4A form'),
  moveTo: z.string().min(1).optional().describe('Its new path'),
}

export function applyPatchTool(): FaceTool {
  return faceTool({
    name,
    description:
      'Changes files by a patch in the V4A form: `input` is a whole patch from `*** Begin Patch` to `*** End Patch`; or give `type`, ' +
      '`path` and `diff` for one file. Each hunk goes to the next place below its `@@` lines; without them the first must be found at exactly one place. All files are changed, or none.',
    input: z.strictObject({
      input: z.string().min(1).optional().describe('A whole patch'),
      operation: z.strictObject(fields).optional().describe('The same as type, path, diff and moveTo'),
      ...fields,
    }),
    example: { input: example },
    annotations: changes,
    run: async (call, given) => applyAll(call, filesOf(given)),
  })
}

interface Given {
  readonly type?: FilePatch['type'] | undefined
  readonly path?: string | undefined
  readonly diff?: string | undefined
  readonly moveTo?: string | undefined
}

function filesOf({
  input,
  operation,
  ...own
}: Given & { readonly input?: string | undefined; readonly operation?: Given | undefined }): FilePatch[] {
  if (input !== undefined) return inTheForm(() => parsePatch(input))
  const { type, path, diff = '', moveTo } = operation ?? own
  if (type === undefined || path === undefined) {
    throw new ToolProblem({
      sentence: `\`${name}\` needs the argument \`input\` (text that is not empty), or \`type\` and \`path\`, which are missing`,
      remedy: 'nothing was changed; give a patch',
      next: { tool: name, arguments: { input: example } },
      data: { code: 'EINVAL', argument: 'input' },
    })
  }
  return [{ type, path, diff: linesOfDiff(diff), moveTo }]
}

async function applyAll(call: Call, files: readonly FilePatch[]): Promise<Outcome> {
  const changes: FileChange[] = []
  for (const file of files) {
    const change = await changeOf(call, file)
    const earlier = changes.findIndex(({ path }) => path === change.path)
    const joined = joinedUpdates(changes[earlier], change)
    if (joined === undefined) changes.push(change)
    else changes[earlier] = joined
  }
  const made = await changeFiles(call, changes)
  return { text: made.map(changeLine).join('\n'), data: { files: files.length } }
}

/** Merges two updates of one file: the second update changes the result of the first update. */
function joinedUpdates(first: FileChange | undefined, second: FileChange): FileChange | undefined {
  if (first?.type !== 'update' || second.type !== 'update' || first.moveTo !== undefined) return undefined
  const [before, after] = [first.change, second.change]
  const change = before && after ? (bytes: Uint8Array): Uint8Array => after(before(bytes)) : (before ?? after)
  return { ...second, change }
}

async function changeOf(call: Call, { type, path, diff, moveTo }: FilePatch): Promise<FileChange> {
  const target = await call.resolve(name, path)
  refuseRoot(call, target, name)
  if (type === 'delete_file') return { type: 'delete', path: target }
  if (type === 'create_file') {
    return { type: 'create', path: target, content: Buffer.from(inTheForm(() => addedContent(diff), target)) }
  }
  const destination = moveTo === undefined ? undefined : await call.resolve(name, moveTo)
  if (diff.length === 0 && destination !== undefined) return { type: 'update', path: target, moveTo: destination }
  const hunks = inTheForm(() => parseHunks(diff), target)
  const change = (bytes: Uint8Array): Uint8Array =>
    inTheForm(() => applyHunks(bytes, hunks, { mayStay: destination !== undefined }), target)
  return { type: 'update', path: target, change, moveTo: destination }
}

function changeLine({ change, path, from }: Change): string {
  if (change === 'moved' && from !== undefined) return `Moved ${quotePath(from)} to ${quotePath(path)}.`
  return `${change === 'created' ? 'Created' : change === 'deleted' ? 'Deleted' : 'Updated'} ${quotePath(path)}.`
}

function inTheForm<Result>(work: () => Result, path?: string): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof PatchProblem)) throw error
    throw new ToolProblem({
      sentence: `The patch ${path === undefined ? '' : `of ${quotePath(path)} `}cannot be applied: ${error.message}`,
      remedy: 'nothing was changed; read the file, and write the patch anew',
      details: error.details ?? (path === undefined ? `A patch looks so:\n${example}` : undefined),
      next:
        path === undefined ? { tool: name, arguments: { input: example } } : { operation: 'read', arguments: { path } },
      data: { code: 'EINVAL', path },
    })
  }
}
