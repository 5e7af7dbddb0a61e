import { createTools } from '@ws/tools'
import { faceNames } from '@ws/tools/face-names'
import { z } from 'zod'

import { defineStepType, type StepContext } from './types.ts'

const settings = z.strictObject({
  tool: z.string().min(1).describe('The name of a tool of the face.'),
  arguments: z.record(z.string(), z.json()).default({}),
  face: z.enum(faceNames).default('split').describe('The form of the tools.'),
})

/** Arguments that name a path to write. A relative path starts at the output's root [PM4]. */
const written: Readonly<Record<string, string>> = {
  write: 'path',
  replace: 'path',
  delete: 'path',
  download: 'path',
  copy: 'to',
  move: 'to',
  rename: 'to',
}

export const toolStep = defineStepType({
  settings,
  async run({ tool, arguments: given, face }, context) {
    await using toolset = createTools(await context.workspace(), { face, downloads: false })
    const expanded = expandDeep(given, context.expand) as Record<string, unknown>
    const answer = await toolset.run(tool, resolveWritten(tool, expanded, context), { signal: context.signal })
    context.log(`${answer.text}\n`)
    if (answer.isError) throw new Error(answer.text.split('\n')[0] ?? 'the tool failed')
    return { text: answer.text.slice(0, maxKept) }
  },
})

const maxKept = 64 * 1024

function resolveWritten(
  tool: string,
  given: Readonly<Record<string, unknown>>,
  context: StepContext,
): Readonly<Record<string, unknown>> {
  const operation = typeof given['operation'] === 'string' ? given['operation'] : tool
  const name = Object.hasOwn(written, operation) ? written[operation] : undefined
  const path = name === undefined ? undefined : given[name]
  if (name === undefined || typeof path !== 'string' || path.startsWith('/')) return given
  return { ...given, [name]: context.resolveWrite(path) }
}

function expandDeep(value: unknown, expand: (text: string) => string): unknown {
  if (typeof value === 'string') return expand(value)
  if (Array.isArray(value)) return value.map((item: unknown) => expandDeep(item, expand))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, expandDeep(inner, expand)]))
}
