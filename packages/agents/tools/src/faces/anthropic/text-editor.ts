import { z } from 'zod'

import { operations } from '../../operations/table.ts'
import { commandRow, commandTool } from '../command-tool.ts'
import type { FaceTool } from '../face.ts'
import { commandDialect, replaceOnce, strReplace } from './commands.ts'
import { insert, insertedText, view, viewRange } from './view.ts'

const name = 'str_replace_based_edit_tool'
const path = z.string().min(1).describe('The path of the file or directory')

/** `text_editor_20250728`. */
export function textEditorTool(): FaceTool {
  return commandTool({
    name,
    description: 'Views, creates and edits text files.',
    dialect: commandDialect(name, (path) => path),
    commands: {
      view: commandRow(z.strictObject({ path, view_range: viewRange }), { path: '/src/app.ts' }, (call, given) =>
        view(call, given.path, given.view_range, name),
      ),
      create: commandRow(
        z.strictObject({ path, file_text: z.string().describe('The content of the file') }),
        { path: '/notes/plan.md', file_text: '# Plan\n' },
        (call, given) => operations.write.handle(call, { path: given.path, content: given.file_text }),
      ),
      str_replace: commandRow(
        z.strictObject({ path, ...strReplace }),
        { path: '/src/app.ts', old_str: 'const a = 1', new_str: 'const a = 2' },
        (call, given) => replaceOnce(call, given.path, given),
      ),
      insert: commandRow(
        z.strictObject({
          path,
          insert_line: z.int().min(0).describe('The line to insert behind; 0 is the beginning'),
          insert_text: z.string().optional().describe('The text to insert'),
          new_str: z.string().optional().describe('The text to put there. Default: nothing'),
        }),
        { path: '/src/app.ts', insert_line: 0, insert_text: '// first\n' },
        async (call, given) => {
          const text = insertedText(given, name)
          return insert(call, await call.resolve('replace', given.path), given.insert_line, text)
        },
      ),
    },
  })
}
