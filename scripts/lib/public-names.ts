import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const declaration =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) +([\w$]+)/gmu
const listing = /^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gmu
const everything = /^export (?:type )?\* from '([^']+)'/gmu
const namespace = /^export (?:type )?\* as ([\w$]+) from/gmu

/** The names that a module exports, including types. `export *` is followed within the package. */
export function publicNames(file: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(file)) return new Set()
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const names = new Set([...text.matchAll(declaration), ...text.matchAll(namespace)].map(([, name = '']) => name))
  for (const [, list = ''] of text.matchAll(listing)) for (const name of listed(list)) names.add(name)
  for (const [, from = ''] of text.matchAll(everything)) {
    if (!from.startsWith('.')) continue
    for (const name of publicNames(join(dirname(file), from), seen)) names.add(name)
  }
  return names
}

function listed(list: string): string[] {
  return list
    .split(',')
    .map((part) => part.trim().replace(/^type /u, ''))
    .filter((part) => part !== '')
    .map((part) => part.split(' as ').at(-1) ?? part)
}

export interface Door {
  readonly door: string
  readonly source: string
  readonly names: ReadonlySet<string>
}

/** Names that no page, test or other package imports, unless a result or a property has the type. Types of options do not count. */
export function unusedNames(doors: readonly Door[], files: readonly string[]): string[] {
  const sourceOf = new Map(doors.map(({ door, source }) => [door, source]))
  const used = new Map(doors.map(({ source }) => [source, new Set<string>()]))
  for (const file of files) {
    for (const [, list = '', from = ''] of readFileSync(file, 'utf8').matchAll(importing)) {
      const source = from.startsWith('.') ? join(dirname(file), from) : sourceOf.get(from)
      if (source === undefined || file.startsWith(`${unitOf(source)}/src/`)) continue
      for (const name of listed(list.replaceAll(/ as \w+|: \w+/gu, ''))) used.get(source)?.add(name)
    }
  }
  return doors.flatMap(({ door, source, names }) => {
    const own = files.filter((file) => file.startsWith(`${unitOf(source)}/src/`))
    const text = own.map((file) => readFileSync(file, 'utf8').replaceAll(optionTypes, '')).join('\n')
    const given = [...text.matchAll(/(?:(?:\)|readonly \w+\??):|\) =>) ([^=;{\n]*)/gu)].flatMap(([, type = '']) =>
      type.split(/\W+/u),
    )
    const known = new Set([...(used.get(source) ?? []), ...given])
    return [...names].filter((name) => !known.has(name)).map((name) => `${door} ${name}`)
  })
}

const importing = /\b(?:import|export|const)\s+(?:type\s+)?\{([^}]*)\}\s+(?:from\s+|= await import\()'([^']+)'/gu
const optionTypes = /^(?:export )?interface \w*Options\b[^]*?^\}/gmu

const unitOf = (source: string): string => source.replace(/\/src\/.*/u, '')
