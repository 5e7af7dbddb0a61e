import { quotePath } from '@ws/core'
import { z } from 'zod'

import { ToolProblem } from '../../answers/problem.ts'
import type { Outcome } from '../../answers/problem.ts'
import { changeFile } from '../../changing/change-file.ts'
import { operations } from '../../operations/table.ts'
import { applyHunks } from '../../patching/apply-hunks.ts'
import { linesOfDiff, parseEnvelope } from '../../patching/envelope.ts'
import type { FilePatch } from '../../patching/envelope.ts'
import { addedContent, parseHunks, PatchProblem } from '../../patching/hunks.ts'
import type { Call } from '../../session/session.ts'
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

/** `apply_patch`: the hosted tool's change of one file, or a patch of several files. */
export function applyPatchTool(): FaceTool {
  return faceTool({
    name,
    description:
      'Changes files by a patch in the V4A form: `input` is a whole patch from `*** Begin Patch` to `*** End Patch`; or give `type`, ' +
      '`path` and `diff` for one file. Each hunk must be found at exactly one place.',
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
  if (input !== undefined) return inTheForm(() => parseEnvelope(input))
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

/** Tries every file before the first is changed. */
async function applyAll(call: Call, files: readonly FilePatch[]): Promise<Outcome> {
  for (const file of files) await check(call, file)
  const done: string[] = []
  for (const file of files) done.push((await apply(call, file)).text)
  return { text: done.join('\n'), data: { files: files.length } }
}

async function check(call: Call, { type, path, diff, moveTo }: FilePatch): Promise<void> {
  const target = await call.resolve(name, path)
  if (type === 'create_file') {
    inTheForm(() => addedContent(diff), path)
    if ((await call.statBehindLinks(target)) === undefined) return
    throw new ToolProblem({
      sentence: `${quotePath(target)} exists already`,
      remedy: 'nothing was changed; update it instead',
      next: { operation: 'read', arguments: { path: target } },
      data: { code: 'EEXIST', path: target },
    })
  }
  const { bytes } = await call.workspace.read(target, { signal: call.signal })
  if (type === 'update_file' && (diff.length > 0 || moveTo === undefined)) {
    inTheForm(() => applyHunks(bytes, parseHunks(diff)), target)
  }
}

async function apply(call: Call, { type, path, diff, moveTo }: FilePatch): Promise<Outcome> {
  if (type === 'create_file') {
    return operations.write.handle(call, { path, content: addedContent(diff), create_only: true })
  }
  if (type === 'delete_file') return operations.delete.handle(call, { path })
  const target = await call.resolve(name, path)
  if (diff.length > 0) {
    const hunks = inTheForm(() => parseHunks(diff), target)
    await call.alone([target], () =>
      changeFile(call, target, (bytes) => inTheForm(() => applyHunks(bytes, hunks), target)),
    )
  }
  if (moveTo !== undefined) return operations.move.handle(call, { from: path, to: moveTo })
  return { text: `Updated ${quotePath(target)}.` }
}

/** A fault of the patch as an answer. */
function inTheForm<Result>(work: () => Result, path?: string): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof PatchProblem)) throw error
    throw new ToolProblem({
      sentence: `The patch ${path === undefined ? '' : `of ${quotePath(path)} `}cannot be applied: ${error.message}`,
      remedy: 'nothing was changed; read the file, and write the patch anew',
      next:
        path === undefined ? { tool: name, arguments: { input: example } } : { operation: 'read', arguments: { path } },
      data: { code: 'EINVAL', path },
    })
  }
}
