import { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import type { Outcome } from '../answers/problem.ts'
import { checkArguments, parseObject, shown } from '../arguments/check.ts'
import { nearestName } from '../arguments/nearest.ts'
import { inputSchemaOf } from '../arguments/schema.ts'
import type { ArgumentsSchema } from '../arguments/schema.ts'
import { fileOperationNames, rowOf } from '../operations/table.ts'
import type { Call } from '../session/session.ts'
import { summarize } from '../text/summary.ts'
import type { InputSchema } from '../types.ts'
import type { Face, FaceOptions, FaceTool } from './face.ts'
import { operationTool } from './split.ts'

/** Prose files and their templates may contain fences. In code and data, a fence around the whole content is the model's mistake [FS6]. */
const proseFiles =
  /\.(?:md[xc]?|mk?do?wn|mkdn?|markdown|markdoc|livemd|myst|[rq]md|rst|txt|adoc|asciidoc|org|typ|wiki|te?mpl|tpl|j2|jinja2?|hbs|mustache|ejs|erb|liquid|njk)$|\.md\.\w+$/iu

function stripFence(path: string, content: string): { readonly content: string; readonly stripped: boolean } {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const text = content.trim()
  const head = text.slice(0, text.indexOf('\n') + 1)
  // a regular expression for the whole content would backtrack for minutes on long content
  const [fence = ''] = /^(?:`{3,}|~{3,})/u.exec(head) ?? []
  const isFenced =
    fence !== '' && !head.includes('`', fence.length) && text.endsWith(fence) && text.length > head.length
  if (proseFiles.test(name) || !name.includes('.') || !isFenced) return { content, stripped: false }
  const inner = text.slice(head.length, -fence.length).replace(/\n$/u, '')
  if (inner.split('\n').some((line) => line.trimStart().startsWith(fence))) return { content, stripped: false }
  return { content: inner === '' || inner.endsWith('\n') ? inner : `${inner}\n`, stripped: true }
}

type FileOperationName = (typeof fileOperationNames)[number]

const toolName = 'file_system'
const example = { operation: 'read', path: '/src/app.ts' }

export function createFileSystemFace({ downloads, root }: FaceOptions): Face {
  const names = fileOperationNames.filter((name) => downloads || name !== 'download')
  return {
    tools: [fileSystemTool(names), operationTool('execute', root)],
    next: ({ operation, arguments: given }) =>
      operation === 'execute'
        ? { tool: 'execute', arguments: given }
        : { tool: toolName, arguments: { operation, ...given } },
  }
}

/** Content may be an object or a list, which becomes JSON. Only this face accepts such content [FS6]. */
const content = z
  .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .describe('The whole content; an object or a list becomes JSON')

function schemaOf(name: FileOperationName): ArgumentsSchema {
  const { input } = rowOf(name)
  return name === 'write' ? (input.extend({ content }) as ArgumentsSchema) : input
}

type Names = readonly FileOperationName[]

function fileSystemTool(names: Names): FaceTool {
  const rows = names.map((name) => ({ ...rowOf(name), name, input: schemaOf(name) }))
  return {
    name: toolName,
    description: `Works on the files of the workspace. Choose an \`operation\`:\n${rows.map((row) => `- ${row.name}: ${row.description}`).join('\n')}`,
    inputSchema: flatSchema(names),
    annotations: {
      title: 'File system',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: names.includes('download'),
    },
    reads: (input) => {
      const { operation } = Object(input) as { readonly operation?: unknown }
      return rows.some(({ name, readOnly }) => readOnly && name === operation)
    },
    example,
    handle: (call, input) => dispatch(call, input, names),
  }
}

/** One schema with the arguments of all operations: models accept no union at the top. */
function flatSchema(names: Names): InputSchema {
  const properties: Record<string, InputSchema['properties'][string]> = {
    operation: { type: 'string', enum: names, description: 'The operation' },
  }
  const users = new Map<string, string[]>()
  for (const name of names) {
    for (const [argument, field] of Object.entries(inputSchemaOf(schemaOf(name)).properties)) {
      properties[argument] ??= field
      users.set(argument, [...(users.get(argument) ?? []), name])
    }
  }
  for (const [argument, callers] of users) {
    const field = properties[argument]
    const { description } = field ?? {}
    properties[argument] = { ...field, description: `${String(description)} (${callers.join(', ')})` }
  }
  return { type: 'object', properties, required: ['operation'], additionalProperties: false }
}

async function dispatch(call: Call, input: unknown, offered: Names): Promise<Outcome> {
  const options = {
    subject: `\`${toolName}\``,
    example,
    call: (given: typeof example) => ({ tool: toolName, arguments: given }),
  }
  const { operation, ...rest } = parseObject(input, {
    ...options,
    call: () => ({ tool: toolName, arguments: example }),
  })
  const name = fileOperationNames.find((one) => one === operation)
  if (name === undefined) throw unknownOperation(operation, rest, offered)
  const row = rowOf(name)
  const checked = checkArguments(schemaOf(name), rest, {
    subject: `operation \`${name}\``,
    example: row.example,
    call: (given) => ({ operation: name, arguments: given }),
  })
  if (name !== 'write') return row.handle(call, checked)
  return writeData(call, checked)
}

/** Serialises objects, strips fences from code and data, and summarises data files [FS6]. */
async function writeData(call: Call, input: Readonly<Record<string, unknown>>): Promise<Outcome> {
  const path = String(input['path'])
  const given = input['content']
  const isText = typeof given === 'string'
  const { content: text, stripped } = isText
    ? stripFence(path, given)
    : { content: `${JSON.stringify(given, undefined, 2)}\n`, stripped: false }
  const outcome = await rowOf('write').handle(call, { ...input, content: text })
  if (stripped) call.notes.push('A markdown fence around the content was taken off.')
  const summary = summarize(path, text)
  return { ...outcome, ...(summary !== undefined && { text: `${outcome.text} ${summary}` }) }
}

function unknownOperation(given: unknown, rest: Readonly<Record<string, unknown>>, offered: Names): ToolProblem {
  const names = offered.map((name) => `\`${name}\``).join(', ')
  const meant = typeof given === 'string' ? offered.find((name) => name === meantBy(given)) : undefined
  const isMissing = given === undefined || given === null
  const chosen = meant ?? 'read'
  const kept = Object.entries(rest).filter(
    ([name, value]) => name in schemaOf(chosen).shape && typeof value === 'string' && value.length <= 500,
  )
  return new ToolProblem({
    sentence: isMissing
      ? `The argument \`operation\` (one of ${names}) is missing`
      : `\`operation\` must be one of ${names}, got ${shown(given)}${meant === undefined ? '' : `; the nearest is \`${meant}\``}`,
    remedy: 'nothing was changed; call again with one of them',
    next: { operation: chosen, arguments: { ...rowOf(chosen).example, ...(Object.fromEntries(kept) as object) } },
    data: { code: 'EINVAL', argument: 'operation' },
  })
}

const otherNames: Readonly<Record<string, FileOperationName>> = {
  view: 'read',
  cat: 'read',
  open: 'read',
  head: 'inspect',
  stat: 'inspect',
  create: 'write',
  save: 'write',
  edit: 'replace',
  str_replace: 'replace',
  grep: 'search',
  glob: 'find',
  fetch: 'download',
  cp: 'copy',
  mv: 'move',
  rm: 'delete',
  remove: 'delete',
  ls: 'list',
  tree: 'list',
}

function meantBy(given: string): FileOperationName | undefined {
  const name = nearestName(given, [...fileOperationNames, ...Object.keys(otherNames)])
  if (name === undefined) return undefined
  return otherNames[name] ?? fileOperationNames.find((one) => one === name)
}
