import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { installInto, type Tarball } from './packed.ts'
import { capture } from './run.ts'

const options = '--declaration --emitDeclarationOnly --strict --module nodenext --target esnext --types node'

/** Compiles a module that emits declarations: a result type that no door exports is an error. Skips doors of optional packages. */
export async function checkConsumer(tarballs: readonly Tarball[], project: string): Promise<string[]> {
  const names = tarballs.map(({ name }) => name).filter((name) => !name.startsWith('@ws/bridge-') && name !== '@ws/cli')
  // the oldest TypeScript that setup installs
  installInto(project, [...names, '@ws/cli', '@types/node', 'just-bash', 'typescript@5.6.1-rc'], tarballs)
  const parts = await Promise.all(names.map(async (name) => importsOf(project, name)))
  writeFileSync(join(project, 'consumer.ts'), parts.join(''))
  const compilers = [[process.execPath, join(project, 'node_modules/typescript/bin/tsc')], ['tsc']]
  return compilers.flatMap(([program = '', ...words]) => {
    try {
      capture(program, [...words, ...options.split(' '), 'consumer.ts'], { cwd: project })
      return []
    } catch (error) {
      return [`a consumer that emits declarations: ${String(error)}`]
    }
  })
}

async function importsOf(project: string, name: string): Promise<string> {
  const folder = join(project, 'node_modules', name)
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  }
  let text = ''
  for (const [door, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue
    const found = await import(pathToFileURL(join(folder, target.default)).href).catch(ifOptional)
    if (found === undefined) continue
    const own = `${name}${door.slice(1)}`.replaceAll(/[^a-z0-9]/gu, '_')
    text += `import * as ${own} from '${name}${door.slice(1)}'\n`
    for (const [key, value] of Object.entries(found as object).flatMap(membersOf)) {
      if (typeof value !== 'function') continue
      const isClass = Function.prototype.toString.call(value).startsWith('class')
      const made = isClass
        ? `null! as InstanceType<typeof ${own}.${key}>`
        : `${own}.${key}(...(null! as Parameters<typeof ${own}.${key}>))`
      text += `export const ${own}_${key.replace('.', '_')} = ${made}\n`
    }
  }
  return text
}

const membersOf = ([name, value]: [string, unknown]): [string, unknown][] =>
  // the bundler makes an object like a module for `export * as`
  typeof value === 'object' && value !== null && Reflect.get(value, Symbol.toStringTag) === 'Module'
    ? Object.entries(value as object).map(([key, member]) => [`${name}.${key}`, member])
    : [[name, value]]

/** Ignores the error of a door whose optional package is not installed. */
function ifOptional(error: Error & { readonly code?: string }): undefined {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'ENOTSUP') throw error
}
