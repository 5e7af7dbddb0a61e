import { globSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'

import { errorCodes, rules } from '@ws/core'

import { packages } from './packages.ts'
import { type LoadedPage, repositoryRoot, withoutCode } from './pages.ts'

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8')

/** Names of packages and their entry points, in the form of imports. */
const doors = new Set(
  packages.flatMap(({ name, exports = {} }) => ['.', ...Object.keys(exports)].map((door) => join(name, door))),
)

/** Codes of this project and of the system, such as `ENOENT`. Other codes belong to quoted programs. */
const codes = new Set<string>([...errorCodes, ...Object.keys(constants.errno), 'EAI_AGAIN', 'EPIPE', 'ENOTFOUND'])

/** All words in a package's sources, option names included. */
const words = new Map<string, ReadonlySet<string>>()
function wordsOf(folder: string): ReadonlySet<string> {
  let found = words.get(folder)
  if (found === undefined) {
    const sources = globSync(`${folder}/src/**/*.ts`, { cwd: repositoryRoot })
    found = new Set(sources.flatMap((source) => read(source).match(/\w+/gu) ?? []))
    words.set(folder, found)
  }
  return found
}

/** Names that no longer exist, with file and line: packages, entry points, error codes, rule makers, and options in tables. */
export function goneNames(page: LoadedPage): string[] {
  const [, own = ''] = /^(.+)\/README\.md$/u.exec(page.source) ?? []
  let isOptions = false
  return withoutCode(page.lines).flatMap(({ source, number, text }) => {
    if (!text.startsWith('|')) isOptions = false
    else if (/^\| option\b/u.test(text)) isOptions = true
    const spans = [...text.matchAll(/(`+)(.+?)\1/gu)].map(([, , span = '']) => span)
    const gone = spans.flatMap((span) => [
      ...[...span.matchAll(/@ws\/[a-z0-9-]+(?:\/[a-z0-9-]+)*/gu)]
        .map(([name]) => name)
        .filter((name) => !doors.has(name)),
      ...[...span.matchAll(/\bE[A-Z]{2,}\b/gu)]
        .map(([code]) => code)
        .filter((code) => span === code && !codes.has(code)),
      ...[...span.matchAll(/\brules\.(\w+)/gu)]
        .map(([, name = '']) => name)
        .filter((name) => name !== 'ts' && !(name in rules)),
    ])
    const first = text.split('|')[1] ?? ''
    const options = isOptions && own !== '' ? [...first.matchAll(/`(\w+)`/gu)].map(([, name = '']) => name) : []
    gone.push(...options.filter((name) => !wordsOf(own).has(name) && !wordsOf('packages/kernel/core').has(name)))
    return gone.map((name) => `${source}:${number}: \`${name}\` is gone; name its replacement, or leave it out`)
  })
}
