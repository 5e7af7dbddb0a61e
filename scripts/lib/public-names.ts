import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const declaration =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) +([\w$]+)/gmu
const listing = /^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gmu
const everything = /^export (?:type )?\* from '([^']+)'/gmu
const namespace = /^export (?:type )?\* as ([\w$]+) from/gmu

/** The names that a module exports, types included: `export *` is followed where it stays in the package. */
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
