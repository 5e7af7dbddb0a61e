import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { createScratchDirectory, give, type Owner, put } from '@ws/test-fixtures'

/** The size of each file outside. No file inside has this size. */
export const outsideSize = 4_321
export const outsideMode = 0o751

/** A workspace, and an outside tree with the names of the raced tree. A marker in the outside contents reveals a leak. */
export interface Arena extends AsyncDisposable {
  readonly scratch: string
  readonly workspace: string
  readonly outside: string
  /** A directory beside the workspace that is raced too, as a separate mount. */
  readonly mounted: string
  readonly owner: Owner
  /** The text in each outside file, and in the names `only-…`. */
  readonly marker: string
  /** Restores the outside tree, and remembers its state. */
  reset(): void
  /** The number of outside entries that were made, changed or removed since the last call or reset. The new state is remembered. */
  changes(): number
}

const files = ['file.txt', 'other.txt', 'sub/deep/file.txt']

export async function createArena(): Promise<Arena> {
  const directory = await createScratchDirectory({ prefix: 'ws-attack-' })
  const { path: scratch, owner } = directory
  const marker = `outside${randomBytes(8).toString('hex')}`
  const outside = join(scratch, 'outside')
  const reset = (): void => {
    for (const path of ['', 'sub', 'sub/deep'].map((name) => join(outside, name))) {
      mkdirSync(path, { recursive: true })
      give(path, owner)
      chmodSync(path, outsideMode)
    }
    const text = `inside content? no: ${marker}\n`
    const content = text + 'x'.repeat(outsideSize - text.length)
    for (const name of [...files, `only-${marker}`, `sub/only-${marker}`]) {
      writeFileSync(join(outside, name), content)
      give(join(outside, name), owner)
    }
    state = stateOf(outside)
  }

  let state = new Map<string, string>()
  const workspace = await directory.createDirectory('workspace')
  const mounted = await directory.createDirectory('mounts/skills')
  await directory.createDirectory('stock')
  for (const path of [join(mounted, 'file.txt'), join(workspace, 'plain/seed.txt')])
    await put(path, 'inside content\n', scratch, owner)
  reset()
  return {
    scratch,
    workspace,
    outside,
    mounted,
    owner,
    marker,
    reset,
    changes() {
      const before = state
      state = stateOf(outside)
      const paths = new Set([...before.keys(), ...state.keys()])
      return [...paths].filter((path) => before.get(path) !== state.get(path)).length
    },
    [Symbol.asyncDispose]: directory.remove,
  }
}

/** Everything in which a change leaves a trace. The access time is left out, because reading changes it. */
function stateOf(path: string, states = new Map<string, string>()): Map<string, string> {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (stat === undefined) return states
  const { ino, mode, uid, gid, nlink, size, mtimeNs, ctimeNs } = stat
  states.set(path, [ino, mode, uid, gid, nlink, size, mtimeNs, ctimeNs].join(' '))
  if (stat.isDirectory()) for (const name of readdirSync(path)) stateOf(join(path, name), states)
  return states
}

/** The names at a path that no racer changes, and the contents of its files. Follows no links. */
export function harvest(path: string): { readonly names: string[]; readonly text: string } {
  const names: string[] = []
  let text = ''
  const visit = (at: string): void => {
    const stat = lstatSync(at, { throwIfNoEntry: false })
    if (stat === undefined) return
    names.push(at.slice(dirname(path).length + 1))
    if (stat.isFile()) text += readFileSync(at, 'latin1')
    else if (stat.isSymbolicLink()) names.push(readlinkSync(at))
    else if (stat.isDirectory()) for (const name of readdirSync(at)) visit(join(at, name))
  }
  visit(path)
  return { names, text }
}
