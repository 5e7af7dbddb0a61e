import { encodeText } from '@ws/shell-tools/files'

import type { BashFileSystem } from '../../files/system.ts'
import type { Character } from '../patterns/marks.ts'
import { Matching } from '../patterns/match.ts'
import { active, parsePattern, unescaped } from '../patterns/parse.ts'
import type { Field } from './fields.ts'

type Files = Pick<BashFileSystem, 'readdirWithFileTypes' | 'resolvePath'> & {
  look(path: string, options: { readonly follow: boolean }): Promise<{ readonly isDirectory: boolean }>
}

export interface GlobContext {
  readonly files: Files
  readonly cwd: string
  /** True if `*` matches names with a leading dot. */
  readonly dots: boolean
  readonly ignored?: string | undefined
  /** Called with the number of entries of each listed directory. */
  readonly count: (entries: number) => void
}

interface Segment {
  readonly text: string
  readonly matches?: (name: string) => boolean
  readonly slashes: string
}

/** Matching names in byte order; `undefined` for a field without a pattern. */
export async function namesOf(field: Field, place: GlobContext): Promise<readonly string[] | undefined> {
  if (!field.some(({ quoted, text }) => !quoted && /[*?\]]/.test(text))) return undefined
  const characters = unescaped(field.flatMap(({ text, quoted }) => charactersOf(text, quoted)))
  if (!isPattern(characters)) return undefined
  let paths: readonly string[] = ['']
  let [listed, unsure] = [false, false]
  for (const { text, matches, slashes } of segmentsOf(characters)) {
    const after = listed || matches !== undefined ? slashes.slice(0, 1) : slashes
    if (matches === undefined) paths = paths.map((path) => path + text + after)
    else {
      const found: string[] = []
      for (const path of paths) {
        const at = place.files.resolvePath(place.cwd, path === '' ? '.' : path)
        // as in bash, a pattern matches nothing in a directory that cannot be read
        const entries = await place.files.readdirWithFileTypes(at).catch(() => [])
        place.count(entries.length)
        for (const { name, isDirectory, isSymbolicLink } of entries) {
          const isShown = text.startsWith('.') || place.dots || !name.startsWith('.')
          if (isShown && (slashes === '' || isDirectory || isSymbolicLink) && matches(name))
            found.push(path + name + after)
        }
      }
      paths = found
      listed = true
    }
    unsure = listed && (matches === undefined || slashes !== '')
  }
  if (unsure) paths = await existing(paths, place)
  const isLeft = ignoring(place.ignored)
  return paths.filter(isLeft).sort((left, right) => Buffer.compare(encodeText(left), encodeText(right)))
}

const charactersOf = (text: string, quoted: boolean): Character[] =>
  [...text].map((character) => ({ text: character, quoted }))

function isPattern(characters: readonly Character[]): boolean {
  let open = false
  return characters.some((character) => {
    const sign = active(character)
    open = sign === '[' || (open && character.text !== '/')
    return sign === '*' || sign === '?' || (sign === ']' && open)
  })
}

function segmentsOf(characters: readonly Character[]): Segment[] {
  const segments: Segment[] = []
  for (let at = 0; at < characters.length; ) {
    const isSlash = ({ text }: Character) => text === '/'
    const from = at
    while (at < characters.length && !isSlash(characters[at] as Character)) at++
    const own = characters.slice(from, at)
    const end = at
    while (at < characters.length && isSlash(characters[at] as Character)) at++
    const matches = isPattern(own) ? testOf(own) : undefined
    segments.push({ text: join(own), slashes: '/'.repeat(at - end), ...(matches === undefined ? {} : { matches }) })
  }
  return segments
}

const join = (characters: readonly Character[]) => characters.map(({ text }) => text).join('')

function testOf(characters: readonly Character[]): (text: string) => boolean {
  const parts = parsePattern(characters, { extended: false, counted: false })
  return (text) => new Matching(parts, text).whole()
}

async function existing(paths: readonly string[], { files, cwd, count }: GlobContext): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    const follow = path.endsWith('/')
    // as in bash, a path whose stat fails is no match
    const stat = await files.look(files.resolvePath(cwd, path), { follow }).catch(() => undefined)
    count(1)
    if (stat !== undefined && (!follow || stat.isDirectory)) found.push(path)
  }
  return found
}

/** Returns a filter by GLOBIGNORE. Each pattern of GLOBIGNORE matches a whole path. */
function ignoring(value: string | undefined): (path: string) => boolean {
  if (value === undefined) return () => true
  const patterns = split(unescaped(charactersOf(value, false)), ':').map((pattern) => ({
    tests: split(pattern, '/').map(testOf),
    // True if the pattern ends in `*`, which then also matches slashes.
    isOpen: active(pattern.at(-1)) === '*',
  }))
  return (path) => {
    const names = path.split('/')
    const isIgnored = ({ tests, isOpen }: (typeof patterns)[number]) =>
      (tests.length === names.length || (isOpen && tests.length < names.length)) &&
      tests.every((test, index) => test(names[index] ?? ''))
    return !/(?:^|\/)\.\.?$/.test(path) && !patterns.some(isIgnored)
  }
}

function split(characters: readonly Character[], sign: string): Character[][] {
  const parts: Character[][] = [[]]
  let open = false
  for (const [at, character] of characters.entries()) {
    if (active(character) === '[') open = characters.slice(at).some((one) => active(one) === ']')
    else if (active(character) === ']') open = false
    if (active(character) === sign && (sign === '/' || !open)) parts.push([])
    else parts.at(-1)?.push(character)
  }
  return parts
}
