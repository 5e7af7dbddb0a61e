import { isWorkspaceError, quotePath } from '@ws/core'
import type { VirtualPath } from '@ws/core'
import { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import { changeFile } from '../changing/change-file.ts'
import { putFile } from '../changing/put-file.ts'
import { replaceText } from '../changing/replace-text.ts'
import type { Edit, Replaced } from '../changing/replace-text.ts'
import type { MatchKind } from '../edit/types.ts'
import { unifiedDiff } from '../edit/unified-diff.ts'
import type { Call } from '../session/session.ts'
import { fenced } from '../text/frame.ts'
import { count } from '../text/numbered.ts'
import { path } from './fields.ts'
import { operation } from './operation.ts'

const text = z.string()

export const replace = operation({
  name: 'replace',
  description:
    'Replaces a text in a file: `old` must be found exactly once, or everywhere with `all`. `edits` makes several changes ' +
    'together or not at all. An empty `old` writes a file that is missing.',
  input: z.strictObject({
    path,
    old: text.optional().describe('Text to replace, exactly as in the file, without line numbers'),
    new: text.optional().describe('Text to put there'),
    all: z.boolean().optional().describe('Replace every occurrence. Default false'),
    edits: z
      .array(z.strictObject({ old: text.min(1), new: text, all: z.boolean().optional() }))
      .min(1)
      .max(200)
      .optional()
      .describe('Several changes of one file, instead of `old` and `new`: [{ old, new, all? }]'),
  }),
  example: { path: '/src/app.ts', old: 'const a = 1', new: 'const a = 2' },
  readOnly: false,
  destructive: true,
  idempotent: false,
  async handle(call, input) {
    const target = await call.resolve('replace', input.path)
    const edits = editsOf(input)
    return call.alone([target], async () => {
      const [only] = edits
      if (only?.old === '') return writeMissing(call, target, only.new)
      let done: Replaced | undefined
      let diff = ''
      const after = await changeFile(call, target, (bytes) => {
        done = replaceText(target, bytes, edits)
        diff = unifiedDiff(bytes, done.content, { path: target })
        return done.content
      })
      const { lines = [], matches = [] } = done ?? {}
      const places = `line${lines.length === 1 ? '' : 's'} ${lines.slice(0, 20).join(', ')}${lines.length > 20 ? ', …' : ''}`
      return {
        text: `Updated ${quotePath(target)}: ${count(lines.length, 'replacement')} at ${places}${foundBy(matches)}${call.versioned(` (version ${after})`)}.\n${fenced(diff)}`,
        data: { path: target, replacements: lines.length, lines, matches, version: after },
      }
    })
  },
})

function foundBy(matches: readonly MatchKind[]): string {
  const words = {
    trailing: 'blanks at line ends aside',
    lookalike: 'look-alike characters aside',
    indent: 'the indent aside',
  }
  const loose = matches.flatMap((match) => (match === 'exact' ? [] : [words[match]]))
  return loose.length === 0 ? '' : `, ${loose.join(' and ')}`
}

interface Input {
  readonly path: string
  readonly old?: string | undefined
  readonly new?: string | undefined
  readonly all?: boolean | undefined
  readonly edits?: readonly Edit[] | undefined
}

function editsOf({ path: given, old, new: replacement, all, edits }: Input): readonly Edit[] {
  const fail = (sentence: string, argument: string): ToolProblem =>
    new ToolProblem({
      sentence,
      remedy: 'nothing was changed; give `old` and `new`, or `edits`',
      next: {
        operation: 'replace',
        arguments: { path: given, old: old ?? 'the old text', new: replacement ?? 'the new text' },
      },
      data: { code: 'EINVAL', argument },
    })
  if (edits !== undefined) {
    if (old !== undefined || replacement !== undefined || all !== undefined) {
      throw fail(
        `\`edits\` is given together with \`${old === undefined ? (all === undefined ? 'new' : 'all') : 'old'}\``,
        'edits',
      )
    }
    return edits
  }
  if (old === undefined) throw fail('The argument `old` (text) is missing', 'old')
  if (replacement === undefined) throw fail('The argument `new` (text) is missing', 'new')
  return [{ old, new: replacement, all }]
}

/** An empty `old` stands for a whole file, which must be missing or empty. */
async function writeMissing(call: Call, target: VirtualPath, content: string) {
  const found = await call.statBehindLinks(target)
  if (found !== undefined && found.size > 0) {
    throw new ToolProblem({
      sentence: `\`old\` is empty, and ${quotePath(target)} has content already`,
      remedy: 'nothing was changed; give the text to replace',
      next: { operation: 'read', arguments: { path: target } },
      data: { code: 'EINVAL', path: target, argument: 'old' },
    })
  }
  try {
    const { version, before } = await putFile(call, target, content, { ifVersion: found?.version ?? 'absent' })
    const done = before === undefined ? 'Created' : 'Updated'
    return {
      text: `${done} ${quotePath(target)}${call.versioned(` (version ${version})`)}.`,
      data: { path: target, version },
    }
  } catch (error) {
    if (!isWorkspaceError(error, 'ECONFLICT')) throw error
    throw new ToolProblem({
      sentence: `${quotePath(target)} was created by others meanwhile`,
      remedy: 'read it, and give the text to replace',
      next: { operation: 'read', arguments: { path: target } },
      data: { code: 'ECONFLICT', path: target },
    })
  }
}
