import { isWorkspaceError, quotePath } from '@ws/core'
import type { VirtualPath } from '@ws/core'
import { z } from 'zod'

import { ToolProblem } from '../../answers/problem.ts'
import type { Outcome } from '../../answers/problem.ts'
import { changeFile } from '../../changing/change-file.ts'
import { insertLines } from '../../changing/insert-lines.ts'
import { defaultLines } from '../../operations/read.ts'
import { operations } from '../../operations/table.ts'
import { readEntry } from '../../reading/entry.ts'
import type { Call } from '../../session/session.ts'

export const viewRange = z
  .array(z.int())
  .min(2)
  .max(2)
  .optional()
  .describe('[first line, last line], from 1; -1 as the last line is the end')

export async function view(
  call: Call,
  given: string,
  range: readonly number[] | undefined,
  tool: string,
): Promise<Outcome> {
  const path = await call.resolve('read', given)
  const [first = 1, last = -1] = range ?? []
  if (first < 1 || (last !== -1 && last < first)) {
    throw new ToolProblem({
      sentence: `\`view_range\` must be [first line, last line] from 1, got \`${JSON.stringify(range)}\``,
      remedy: 'give both, the first not above the last; -1 is the end',
      next: { operation: 'read', arguments: { path } },
      data: { code: 'EINVAL', argument: 'view_range' },
    })
  }
  const words = {
    line: (from: number) => `view_range [${from + 1}, ${from + defaultLines}] of ${tool}`,
    byte: (from: number) => `tail -c +${from + 1} in bash`,
  }
  const limit = last === -1 ? (range === undefined ? defaultLines : 100_000) : last - first + 1
  try {
    return await call.alone([path], () => readEntry(call, { path, offset: first - 1, limit, words }))
  } catch (error) {
    if (isWorkspaceError(error, 'EISDIR')) return operations.list.handle(call, { path, depth: 2 })
    const isPdf = error instanceof ToolProblem && error.options.data?.['type'] === 'application/pdf'
    if (!isPdf) throw error
    // the tool knows no pages: its range then counts them, and a range of lines is open
    const isOpen = last === -1 || last - first >= 1000
    return operations.read_chunked.handle(call, { path, pages: `${first}-${isOpen ? '' : last}` })
  }
}

export async function insert(call: Call, path: VirtualPath, line: number, text: string): Promise<Outcome> {
  return call.alone([path], async () => {
    const version = await changeFile(call, path, (bytes) => insertLines(path, bytes, line, text))
    return {
      text: `Inserted text into ${quotePath(path)} behind line ${line}${call.versioned(` (version ${version})`)}.`,
      data: { path, version },
    }
  })
}

/** The text of `insert`, named `insert_text` or `new_str` by version. */
export function insertedText(
  given: { readonly insert_text?: string | undefined; readonly new_str?: string | undefined },
  tool: string,
): string {
  const text = given.insert_text ?? given.new_str
  if (text !== undefined) return text
  throw new ToolProblem({
    sentence: 'command `insert` needs the argument `insert_text` (text), which is missing',
    remedy: 'nothing was changed; give the text to insert',
    next: { tool, arguments: { command: 'insert', path: '/src/app.ts', insert_line: 0, insert_text: 'text\n' } },
    data: { code: 'EINVAL', argument: 'insert_text' },
  })
}
