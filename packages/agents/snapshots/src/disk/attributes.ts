import { spawnSync } from 'node:child_process'
import { constants, readFileSync } from 'node:fs'

import type { Database, Facts, Root, ScanResult } from '@ws/tree/disk'

import { lasting } from '../store/open-index.ts'

/** getxattr(2), listxattr(2) and close(2): Node has no calls for attributes. */
const numbers: Readonly<Record<string, readonly number[]>> = { x64: [191, 194, 3], arm64: [8, 11, 57] }
const [getxattr, listxattr, close] = numbers[process.arch] ?? []
const O_PATH = 0x20_0000 // not among Node's constants
const perl = '/usr/bin/perl'
const reader = readFileSync(new URL('attributes-read.pl', import.meta.url), 'utf8')

/** Stored in place of a path once the attributes of the whole tree were scanned. */
const ever = ''

/** Access lists and user attributes (`user.…`) of a tree, as pairs of name and hex bytes. A valid state has those of the latest scan. */
export class Attributes {
  readonly #tree: number
  readonly #database: Database

  constructor(tree: number, database: Database) {
    this.#tree = tree
    this.#database = database
  }

  /** Saves the attributes of changed entries. Reports the root as left out if the attributes cannot be read. */
  note(root: Root, changed: ReadonlyMap<string, Facts>, live: ReadonlyMap<string, Facts>): ScanResult['leftOut'] {
    const all = this.#database.all<{ path: string }>('SELECT DISTINCT path FROM attributes WHERE tree = ?', this.#tree)
    const known = new Set(all.map(({ path }) => path))
    // an index of an earlier version has no attributes at all
    const looked = known.has(ever) ? changed : new Map([...live, ...changed])
    const paths = [...looked].flatMap(([path, { type }]) => (type === 'symlink' ? [] : [path]))
    if (paths.length === 0) return []
    const names = paths.map((path) => `${path.slice(1) || '.'}\0`).join('')
    const flags = O_PATH | constants.O_NOFOLLOW
    const { status, stdout } = spawnSync(perl, ['-e', reader, ...[getxattr, listxattr, close, flags].map(String)], {
      input: names,
      stdio: ['pipe', 'pipe', 'ignore', root.fd],
      env: {},
      encoding: 'utf8',
      maxBuffer: Infinity,
    })
    if (getxattr === undefined || status !== 0) {
      // the next scan reads the attributes of all entries again
      this.#database.run('DELETE FROM attributes WHERE tree = ? AND path = ?', this.#tree, ever)
      return [{ path: '/', reason: 'access lists and attributes cannot be looked at here' }]
    }
    const found = stdout.split('\0')
    const attributes = new Map(found.flatMap((name, index) => (index % 2 === 0 ? [[name, found[index + 1]]] : [])))
    this.#database.run('INSERT OR IGNORE INTO attributes VALUES (?, ?, 0, ?)', this.#tree, ever, '')
    for (const path of paths) {
      const value = attributes.get(path.slice(1) || '.') ?? ''
      if (value === '' && !known.has(path)) continue
      const state = 'SELECT tree, path, first, ? FROM entries WHERE tree = ? AND path = ? AND last = ?'
      this.#database.run(`INSERT OR REPLACE INTO attributes ${state}`, value, this.#tree, path, lasting)
    }
    this.#database.run(
      `DELETE FROM attributes WHERE path <> ? AND NOT EXISTS (SELECT 1 FROM entries
        WHERE entries.tree = attributes.tree AND entries.path = attributes.path AND entries.first = attributes.first)`,
      ever,
    )
    return []
  }

  /** The attributes at a turn. */
  at(turn: number, path: string): string | undefined {
    return this.#database.get<{ value: string }>(
      'SELECT value FROM attributes JOIN entries USING (tree, path, first) WHERE tree = ? AND path = ? AND first <= ? AND last > ?',
      ...[this.#tree, path, turn, turn],
    )?.value
  }
}
