import { quotePath } from '@ws/core'
import { z } from 'zod'

import { ToolProblem } from '../../answers/problem.ts'
import type { NextOperation, Outcome } from '../../answers/problem.ts'
import { operations } from '../../operations/table.ts'
import { writeWhole } from '../../operations/write.ts'
import type { Call } from '../../session/session.ts'
import type { NextCall } from '../../types.ts'
import { commandRow, commandTool } from '../command-tool.ts'
import type { FaceTool } from '../face.ts'
import { commandDialect, replaceOnce, strReplace } from './commands.ts'
import { insert, insertedText, view, viewRange } from './view.ts'

const name = 'memory'
/** The mode of new files, as in the SDK's own memory: hidden from other users. */
const privateMode = 0o600
const directory = '/memories'
const path = z.string().min(1).describe('A path in /memories')
const file = `${directory}/notes.md`

const dialect = commandDialect(name, fromMemory)

/** Suggests only paths inside the memory, which can always be viewed. */
function lookInside({ operation }: NextOperation): NextCall | undefined {
  return operation === 'list' ? { tool: name, arguments: { command: 'view', path: directory } } : undefined
}

/** `memory_20250818`: files below `/memories` of the workspace's root. */
export function memoryTool(): FaceTool {
  return commandTool({
    name,
    description: 'Keeps files below /memories from one conversation to the next.',
    dialect: { ...dialect, root: directory, next: (operation) => dialect.next(operation) ?? lookInside(operation) },
    commands: {
      view: commandRow(z.strictObject({ path, view_range: viewRange }), { path: directory }, (call, given) =>
        viewMemory(call, inMemory(given.path), given.view_range),
      ),
      create: commandRow(
        z.strictObject({ path, file_text: z.string().describe('The content of the file') }),
        { path: file, file_text: 'notes\n' },
        (call, given) =>
          writeWhole(
            call,
            { path: inMemory(given.path), content: given.file_text, create_only: true },
            { mode: privateMode },
          ),
      ),
      str_replace: commandRow(
        z.strictObject({ path, ...strReplace }),
        { path: file, old_str: 'notes', new_str: 'more notes' },
        (call, given) => replaceOnce(call, inMemory(given.path), given),
      ),
      insert: commandRow(
        z.strictObject({
          path,
          insert_line: z.int().min(0).describe('The line to insert behind; 0 is the beginning'),
          insert_text: z.string().optional().describe('The text to insert'),
          new_str: z.string().optional().describe('The text to put there. Default: nothing'),
        }),
        { path: file, insert_line: 0, insert_text: 'first\n' },
        async (call, given) => {
          const text = insertedText(given, name)
          return insert(call, await call.resolve('replace', inMemory(given.path)), given.insert_line, text)
        },
      ),
      delete: commandRow(z.strictObject({ path }), { path: file }, (call, given) =>
        operations.delete.handle(call, { path: notTheWhole(inMemory(given.path)), recursive: true }),
      ),
      rename: commandRow(
        z.strictObject({ old_path: path, new_path: path.describe('The new path; nothing may be there') }),
        { old_path: file, new_path: `${directory}/old.md` },
        (call, given) =>
          operations.move.handle(call, {
            from: notTheWhole(inMemory(given.old_path)),
            to: notTheWhole(inMemory(given.new_path)),
          }),
      ),
    },
  })
}

function inMemory(given: string): string {
  const segments = given.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments[0] === 'memories' && !segments.includes('..')) return `./${segments.join('/')}`
  throw new ToolProblem({
    sentence: `${quotePath(given.slice(0, 300))} is outside \`${directory}\``,
    remedy: 'nothing was changed; give a path in `/memories`',
    next: { tool: name, arguments: { command: 'view', path: directory } },
    data: { code: 'EOUTSIDE' },
  })
}

function fromMemory(given: string): string | undefined {
  return /^.*?(\/memories(?:\/.*)?)$/su.exec(`/${given}`)?.[1]
}

function notTheWhole(path: string): string {
  if (path !== './memories') return path
  throw new ToolProblem({
    sentence: `\`${directory}\` itself can be neither deleted nor renamed`,
    remedy: 'nothing was changed; name an entry in it',
    next: { tool: name, arguments: { command: 'view', path: directory } },
    data: { code: 'EBUSY' },
  })
}

async function viewMemory(call: Call, given: string, range: readonly number[] | undefined): Promise<Outcome> {
  const target = await call.resolve('list', given)
  if (given === './memories' && (await call.statBehindLinks(target)) === undefined) {
    return { text: `${directory}/\n(nothing here)`, data: { total: 0 } }
  }
  const outcome = await view(call, given, range, name)
  if (outcome.data?.['entries'] === undefined) return outcome
  // show paths in the form that the commands accept
  const [head = '', ...lines] = outcome.text.split('\n')
  const shown = fromMemory(head) ?? head
  return { ...outcome, text: [shown, ...lines.map((line) => line.replace(/^ {2}(?=[^ ])/u, `  ${shown}`))].join('\n') }
}
