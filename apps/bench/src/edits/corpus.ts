import { readdirSync, readFileSync } from 'node:fs'

/** A part of a content: text, bytes in hexadecimal digits, or a text many times. */
type Part = string | { readonly hex: string } | { readonly repeat: string; readonly times: number }

type Content = string | readonly Part[]

export interface Edit {
  readonly old: string
  readonly new: string
  readonly all?: boolean | undefined
}

/** One row of the corpus of `@ws/tools`: a file, a change, and its expected end. */
export interface Row {
  readonly name: string
  /** The file before; absent where there is none. */
  readonly before: Buffer | undefined
  readonly edits: readonly Edit[] | undefined
  /** The diff of the file in the V4A form. */
  readonly patch: string | undefined
  /** Whether the change is to be refused. */
  readonly isRefused: boolean
  /** The contents that are right; for a change that is to be refused, the old content alone. */
  readonly right: readonly Buffer[]
}

export interface Category {
  readonly name: string
  readonly rows: readonly Row[]
}

interface StoredRow {
  readonly name: string
  readonly file: Content | null
  readonly edits?: readonly Edit[] | undefined
  readonly patch?: string | undefined
  readonly expect?: Content | undefined
  readonly also?: readonly Content[] | undefined
}

const directory = new URL('../../../../packages/tools/test/edit/corpus/', import.meta.url)

export function readCorpus(): readonly Category[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.json'))
  return names.map((name) => {
    const rows = JSON.parse(readFileSync(new URL(name, directory), 'utf8')) as readonly StoredRow[]
    return { name: name.replace('.json', ''), rows: rows.map(rowOf) }
  })
}

function rowOf({ name, file, edits, patch, expect, also = [] }: StoredRow): Row {
  const before = file === null ? undefined : bytesOf(file)
  const wanted = expect === undefined ? before : bytesOf(expect)
  const right = [...(wanted === undefined ? [] : [wanted]), ...also.map(bytesOf)]
  return { name, before, edits, patch, isRefused: expect === undefined, right }
}

function bytesOf(content: Content): Buffer {
  if (typeof content === 'string') return Buffer.from(content)
  return Buffer.concat(
    content.map((part) => {
      if (typeof part === 'string') return Buffer.from(part)
      return 'hex' in part ? Buffer.from(part.hex, 'hex') : Buffer.from(part.repeat.repeat(part.times))
    }),
  )
}
