import { z } from 'zod'

import { ToolProblem } from '../../answers/problem.ts'
import { contextLines } from '../../looking/context-lines.ts'
import { collectHits } from '../../looking/hits.ts'
import type { Hit } from '../../looking/hits.ts'
import { nextAtPlace, showHit } from '../../looking/show-hit.ts'
import { hidden, ignored } from '../../operations/fields.ts'
import { findPaths } from '../../operations/find.ts'
import { headAndTail } from '../../text/cut.ts'
import { faceTool, readsOnly } from '../face.ts'
import type { FaceTool } from '../face.ts'

export function claudeSearch(): FaceTool[] {
  return [globTool(), grepTool()]
}

function globTool(): FaceTool {
  return faceTool({
    name: 'Glob',
    description: 'Finds files by a glob such as `**/*.ts`: 100 at most, sorted by path.',
    input: z.strictObject({
      pattern: z.string().min(1).describe('The glob'),
      path: z.string().min(1).optional().describe('Directory. Default: the root'),
      hidden,
      ignored,
    }),
    example: { pattern: '**/*.ts' },
    annotations: readsOnly,
    run: (call, { pattern, ...input }) => findPaths(call, { glob: pattern, ...input }, { filesOnly: true }),
  })
}

const types: Readonly<Record<string, readonly string[]>> = {
  js: ['*.js', '*.jsx', '*.mjs', '*.cjs'],
  ts: ['*.ts', '*.tsx', '*.mts', '*.cts'],
  py: ['*.py', '*.pyi'],
  rust: ['*.rs'],
  go: ['*.go'],
  java: ['*.java'],
  c: ['*.c', '*.h'],
  cpp: ['*.cpp', '*.cc', '*.cxx', '*.hpp', '*.hh', '*.h'],
  ruby: ['*.rb'],
  php: ['*.php'],
  json: ['*.json'],
  yaml: ['*.yaml', '*.yml'],
  md: ['*.md', '*.markdown'],
  html: ['*.html', '*.htm'],
  css: ['*.css'],
  sh: ['*.sh', '*.bash'],
  sql: ['*.sql'],
  toml: ['*.toml'],
}

const around = z.int().min(0).max(1000).optional()

const grepInput = z.strictObject({
  pattern: z.string().min(1).describe('Regular expression (RE2)'),
  path: z.string().min(1).optional().describe('File or directory. Default: the root'),
  glob: z.string().min(1).optional().describe('Only files that match, such as *.js'),
  output_mode: z.enum(['content', 'files_with_matches', 'count']).optional().describe('Default files_with_matches'),
  '-B': around.describe('Lines before each match; content only'),
  '-A': around.describe('Lines after each match; content only'),
  '-C': around.describe('Lines before and after each match; content only'),
  context: around.describe('The same as -C'),
  '-n': z.boolean().optional().describe('Show line numbers; content only. Default true'),
  '-i': z.boolean().optional().describe('Ignore case'),
  ignored,
  '-o': z.boolean().optional().describe('Not supported'),
  type: z
    .string()
    .min(1)
    .optional()
    .describe(`Only files of a type: ${Object.keys(types).join(', ')}`),
  head_limit: z.int().min(0).max(100_000).optional().describe('Most lines or files. Default 250; 0 for no limit'),
  offset: z.int().min(0).max(100_000).optional().describe('Lines or files to leave out at the beginning. Default 0'),
  multiline: z.boolean().optional().describe('Not supported'),
})

function grepTool(): FaceTool {
  return faceTool({
    name: 'Grep',
    description: 'Searches the lines of files by a regular expression.',
    input: grepInput,
    example: { pattern: 'TODO', output_mode: 'content' },
    annotations: readsOnly,
    async run(call, input) {
      call.pass()
      const {
        pattern,
        path = '.',
        output_mode: mode = 'files_with_matches',
        head_limit: wanted = 250,
        offset = 0,
      } = input
      for (const name of ['-o', 'multiline'] as const) if (input[name] === true) throw unsupported(name, input)
      const target = await call.resolve('search', path)
      const { hits, more, omitted } = await collectHits(call, pattern, {
        in: target,
        glob: globsOf(input),
        ignored: input.ignored,
        regex: true,
        caseSensitive: input['-i'] !== true,
        mode: mode === 'files_with_matches' ? 'files' : mode,
        limit: wanted === 0 ? 100_000 : wanted,
        skip: offset,
      })
      if (hits.length === 0) {
        const none = mode === 'content' ? 'No matches found' : 'No files found'
        const sentence = omitted.sentence({ hidden: false })
        return { text: sentence === '' ? none : `${none}.${sentence}`, data: { matches: 0 } }
      }
      const end = offset + hits.length
      const footer = more ? `\n[more results; next: offset ${end}]` : ''
      const text = headAndTail(await render(hits))
      return {
        text: `${text}${footer}`,
        data: { results: hits.length, more },
        next: more
          ? { tool: 'Grep', arguments: { ...input, offset: end } }
          : mode === 'content'
            ? nextAtPlace(hits)
            : undefined,
      }

      async function render(all: readonly Hit[]): Promise<string> {
        if (mode === 'files_with_matches') return all.map((hit) => call.show(hit.path)).join('\n')
        if (mode === 'count') return all.map((hit) => `${call.show(hit.path)}:${hit.count ?? 1}`).join('\n')
        const both = input['-C'] ?? input.context ?? 0
        const size = { before: input['-B'] ?? both, after: input['-A'] ?? both }
        const numbered = size.before + size.after > 0
        if (numbered) return contextLines(call, all, size)
        const mark = (line: number): string => (input['-n'] === false ? '' : `${line}:`)
        return all.map((hit) => `${call.show(hit.path)}:${mark(hit.line)}${showHit(hit)}`).join('\n')
      }
    },
  })
}

function globsOf({ glob, type }: z.output<typeof grepInput>): string | readonly string[] | undefined {
  if (type === undefined) return glob
  const globs = types[type]
  if (globs === undefined) {
    throw new ToolProblem({
      sentence: `\`type\` must be one of ${Object.keys(types).join(', ')}, got ${JSON.stringify(type.slice(0, 60).toWellFormed())}`,
      remedy: 'use `glob` for other files',
      next: { tool: 'Grep', arguments: { pattern: 'TODO', glob: '*.txt' } },
      data: { code: 'EINVAL', argument: 'type' },
    })
  }
  if (glob === undefined) return globs
  throw new ToolProblem({
    sentence: '`type` and `glob` are both given',
    remedy: 'give one of them',
    next: { tool: 'Grep', arguments: { pattern: 'TODO', glob } },
    data: { code: 'EINVAL', argument: 'type' },
  })
}

function unsupported(name: '-o' | 'multiline', input: z.output<typeof grepInput>): ToolProblem {
  const { [name]: _, ...rest } = input
  return new ToolProblem({
    sentence: `\`${name}\` is not supported: a pattern matches within a line, and the whole line is shown`,
    remedy: 'leave it out',
    next: { tool: 'Grep', arguments: { ...rest, output_mode: 'content' } },
    data: { code: 'ENOTSUP', argument: name },
  })
}
