import { parse, YAMLParseError } from 'yaml'
import { z } from 'zod'

export interface Frontmatter {
  readonly name?: string | undefined
  readonly description: string
  readonly license?: string | undefined
  readonly compatibility?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly allowedTools?: readonly string[] | undefined
}

export interface ReadSkillFile {
  /** Absent when the file has no usable skill; `problem` gives the reason. */
  readonly frontmatter?: Frontmatter | undefined
  readonly body: string
  readonly problem?: string | undefined
}

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String)

/** Lenient: drops a field of the wrong type. Only the description is required. */
const schema = z.object({
  name: scalar.optional().catch(undefined),
  description: scalar.transform((text) => text.trim()).refine((text) => text !== ''),
  license: scalar.optional().catch(undefined),
  compatibility: scalar.optional().catch(undefined),
  metadata: z.record(z.string(), scalar).optional().catch(undefined),
  'allowed-tools': z
    .union([scalar.transform((text) => text.split(/[\s,]+/u).filter(Boolean)), z.array(scalar)])
    .optional()
    .catch(undefined),
})

const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/u

export function readSkillFile(text: string): ReadSkillFile {
  const found = block.exec(text)
  if (found === null) return { body: text, problem: 'does not begin with frontmatter between `---` lines' }
  const body = text.slice(found[0].length)
  const value = parseLeniently(found[1] ?? '')
  if (value === undefined) return { body, problem: 'has frontmatter that is not YAML' }
  const { data } = schema.safeParse(value)
  if (data === undefined) return { body, problem: 'has no `description` in its frontmatter' }
  const { 'allowed-tools': allowedTools, ...rest } = data
  return { frontmatter: { ...rest, allowedTools }, body }
}

/** Values with a colon are often unquoted: on failure, quotes them and parses again. */
function parseLeniently(source: string): unknown {
  const options = { maxAliasCount: 100, logLevel: 'error' } as const
  try {
    return parse(source, options)
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error
  }
  const quoted = source.replaceAll(/^([A-Za-z-]+):[ \t]+(?!["'|>[{])(.*:.*)$/gmu, (_, name: string, value: string) => {
    return `${name}: ${JSON.stringify(value.trim())}`
  })
  try {
    return parse(quoted, options)
  } catch (error) {
    if (error instanceof YAMLParseError) return undefined
    throw error
  }
}
