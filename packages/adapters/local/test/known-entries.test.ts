import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  type Dirent,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { component, describeWith, rounds } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { fuseType, isExactType, tmpfsType } from '../src/host/mounts.ts'
import { KnownEntries, knownEntries } from '../src/read/known-entries.ts'
import { type Local, at, open, scratch } from './support.ts'

const seed = Number(process.env['WS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
/** Changes of a directory that come later have another time. By the clock: a timer may run too early after long work. */
async function settle(): Promise<void> {
  const until = performance.now() + 130
  while (performance.now() < until) await delay(5)
}

/** A number from 0 to before `limit`. */
type Draw = (limit: number) => number

function drawFrom(start: number): Draw {
  let state = start
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** The entries, asked of the system: path and type. */
function walk(root: string, path = ''): string[] {
  return readdirSync(root + path, { withFileTypes: true }).flatMap((entry) => {
    const below = `${path}/${entry.name}`
    const type = entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'symlink' : 'file'
    return [`${below} ${type}`, ...(type === 'directory' ? walk(root, below) : [])]
  })
}

async function listed(adapter: Local, path = '/'): Promise<string[]> {
  const found: string[] = []
  for await (const entry of adapter.list(at(path), { recursive: true })) found.push(`${entry.path} ${entry.type}`)
  return found.toSorted()
}

/** How often directories were listed in truth, and how often known entries were given. */
function countUses(): { listed: number; known: number } {
  const uses = { listed: 0, known: 0 }
  const recall = knownEntries.recall.bind(knownEntries)
  const recorder = knownEntries.recorder.bind(knownEntries)
  const recalls = vi.spyOn(knownEntries, 'recall').mockImplementation((tree, status) => {
    const entries = recall(tree, status)
    if (entries !== undefined) uses.known += 1
    return entries
  })
  const recorders = vi.spyOn(knownEntries, 'recorder').mockImplementation((tree, status) => {
    uses.listed += 1
    return recorder(tree, status)
  })
  onTestFinished(() => {
    recalls.mockRestore()
    recorders.mockRestore()
  })
  return uses
}

/** RENAME_EXCHANGE (2), which Node does not have. */
function exchange(one: string, other: string): void {
  const number = process.arch === 'arm64' ? 276 : 316
  const { status } = spawnSync(component('perl').path ?? '', [
    '-e',
    `exit(syscall(${number}, -100, $ARGV[0], -100, $ARGV[1], 2) != 0)`,
    one,
    other,
  ])
  expect(status).toBe(0)
}

/** A change of a tree of directories `a` to `f`, two levels deep; some draws do nothing. Links lead nowhere: a change through one stays below. */
function change(root: string, draw: Draw): void {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const pick = () => join(root, names[draw(6)] ?? '', names[draw(6)] ?? '')
  const place = () => (draw(2) === 0 ? pick() : join(pick(), names[draw(6)] ?? ''))
  const path = place()
  const changes: (() => void)[] = [
    () => writeFileSync(path, ''),
    () => mkdirSync(path),
    () => rmSync(path, { recursive: true }),
    () => renameSync(path, place()),
    () => symlinkSync('nowhere', path),
    () => linkSync(path, place()),
    () => chmodSync(path, 0o700 + draw(2) * 0o55),
    () => {
      // A directory that is replaced by another, which may get its inode.
      rmSync(path, { recursive: true })
      mkdirSync(path)
      writeFileSync(join(path, 'new'), '')
    },
    () => {
      mkdirSync(join(root, 'other/x'), { recursive: true })
      rmSync(path, { recursive: true })
      renameSync(join(root, 'other'), path)
    },
    () => {
      rmSync(path)
      mkdirSync(path)
    },
  ]
  try {
    changes[draw(changes.length)]?.()
  } catch {
    // It does not fit the entries on the disk.
  }
}

const tmpfs = tmpfsType
const places = [
  { name: 'a scratch directory', tags: [], make: async () => (await scratch()).path },
  { name: 'directories of more than 4 KiB', tags: [], make: async () => (await scratch()).path, padding: 250 },
  {
    name: 'tmpfs',
    tags: ['all'],
    make: async () => {
      const root = mkdtempSync('/dev/shm/ws-known-')
      onTestFinished(() => rmSync(root, { recursive: true }))
      return root
    },
    isAbsent: !isTmpfs('/dev/shm'),
  },
]

function pad(directory: string, count: number): void {
  for (let name = 0; name < count; name += 1) writeFileSync(join(directory, `padding-of-a-name-${name}`), '')
}

function isTmpfs(path: string): boolean {
  try {
    return statfsSync(path).type === tmpfs
  } catch {
    return false
  }
}

for (const { name, make, isAbsent, tags, padding = 0 } of places) {
  describe(`entries that are known, on ${name}`, { tags }, () => {
    it.skipIf(isAbsent)(
      `[RU4] are those that are there, whatever was changed (WS_SEED=${seed})`,
      { tags: 'rounds' },
      async () => {
        const root = await make()
        for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
          mkdirSync(join(root, name, 'a'), { recursive: true })
          pad(join(root, name), padding)
        }
        const adapter = await open(root)
        const uses = countUses()
        const draw = drawFrom(seed)
        let last = 0
        for (const round of rounds({ quick: 100, seconds: 8 })) {
          last = round
          for (let left = draw(4); left > 0; left -= 1) change(root, draw)
          expect({ round, found: await listed(adapter) }).toEqual({ round, found: walk(root).toSorted() })
          if (draw(4) === 0) await settle()
        }
        expect(uses.known).toBeGreaterThan(last)
      },
    )

    it.skipIf(isAbsent || !component('perl').available)(
      '[RU4] are listed again after each kind of change',
      async () => {
        const root = await make()
        const adapter = await open(root)
        const d = join(root, 'd')
        mkdirSync(join(d, 'sub'), { recursive: true })
        mkdirSync(join(root, 'e'))
        writeFileSync(join(d, 'file'), '')
        pad(d, padding)
        const uses = countUses()
        const kinds: Record<string, () => void> = {
          create: () => writeFileSync(join(d, '.env'), ''),
          'hard link': () => linkSync(join(d, 'file'), join(d, 'id_rsa')),
          'symbolic link': () => symlinkSync('x', join(d, 'link')),
          rename: () => renameSync(join(d, '.env'), join(d, '.env.local')),
          'rename to another directory': () => renameSync(join(d, '.env.local'), join(root, 'e/.env')),
          'rename over another': () => renameSync(join(root, 'e/.env'), join(d, 'file')),
          'exchange in one directory': () => exchange(join(d, 'file'), join(d, 'sub')),
          'exchange between two': () => exchange(join(d, 'link'), join(root, 'e')),
          delete: () => rmSync(join(d, 'id_rsa')),
          'replace by a directory': () => {
            mkdirSync(join(root, 'new/.ssh'), { recursive: true })
            renameSync(d, join(root, 'old'))
            renameSync(join(root, 'new'), d)
          },
          'move the former back': () => {
            renameSync(d, join(root, 'new'))
            renameSync(join(root, 'old'), d)
          },
        }
        for (const [kind, make] of Object.entries(kinds)) {
          await settle()
          await listed(adapter)
          const known = uses.known
          expect(await listed(adapter)).toEqual(walk(root).toSorted())
          expect({ kind, isKnown: uses.known > known }).toEqual({ kind, isKnown: true })
          make()
          expect({ kind, found: await listed(adapter) }).toEqual({ kind, found: walk(root).toSorted() })
        }
      },
    )
  })
}

describe('entries that are read in parts', () => {
  it('[RU4] are not known where the directory changed meanwhile', async () => {
    const { path: root } = await scratch()
    pad(root, 600)
    const adapter = await open(root)
    await settle()
    const uses = countUses()
    const listing = adapter.list(at('/'))[Symbol.asyncIterator]()
    for (let count = 0; count < 5; count += 1) await listing.next()
    writeFileSync(join(root, 'late'), '')
    for (let step = await listing.next(); step.done !== true; ) step = await listing.next()
    expect(await listed(adapter)).toEqual(walk(root).toSorted())
    await settle()
    await listed(adapter)
    expect(await listed(adapter)).toEqual(walk(root).toSorted())
    expect(uses).toEqual({ listed: 3, known: 1 })
  })

  it('[RU4] are not known after a listing that did not end', async () => {
    const { path: root } = await scratch()
    pad(root, 600)
    const adapter = await open(root)
    await settle()
    for await (const { type } of adapter.list(at('/'))) if (type === 'file') break
    expect(await listed(adapter)).toEqual(walk(root).toSorted())
  })
})

describe('entries that are known', () => {
  const entries = (count: number) => Array.from({ length: count }, () => ({}) as Dirent)
  const second = 1_000_000_000n

  function withClock() {
    const clock = { now: 10_000_000, monotonic: 0 }
    const known = new KnownEntries(
      () => clock.now,
      () => clock.monotonic,
    )
    const pass = (ms: number) => {
      clock.now += ms
      clock.monotonic += ms
    }
    /** Whether they had to be listed. */
    const isListed = (ino: number, ctimeNs: bigint, { tree = 1, count = 1 } = {}) => {
      let asked = false
      known.of(tree, { ino: BigInt(ino), ctimeNs }, () => {
        asked = true
        return entries(count)
      })
      return asked
    }
    return { clock, pass, isListed }
  }

  it('are those of a directory that changed a while before it was listed', () => {
    const { pass, isListed } = withClock()
    const changed = 10_000n * second - 5_000_000n
    expect([isListed(1, changed), isListed(1, changed)]).toEqual([true, true])
    pass(96)
    expect([isListed(1, changed), isListed(1, changed)]).toEqual([true, false])
    expect([isListed(2, changed), isListed(1, changed, { tree: 2 })]).toEqual([true, true])
    expect([isListed(1, changed + 1n), isListed(1, changed)]).toEqual([true, true])
  })

  it('are those of a directory that changed two seconds before, where times are whole seconds', () => {
    const { isListed } = withClock()
    expect([isListed(1, 9_998n * second), isListed(1, 9_998n * second)]).toEqual([true, true])
    expect([isListed(1, 9_997n * second), isListed(1, 9_997n * second)]).toEqual([true, false])
  })

  it('are forgotten when the clock is set', () => {
    const { clock, pass, isListed } = withClock()
    const changed = 900n * second + 1n
    for (const step of [-3_600_000, -12, 3_600_000, 12]) {
      expect([isListed(1, changed), isListed(1, changed)]).toEqual([true, false])
      clock.now += step
    }
    expect([isListed(1, changed), isListed(1, changed)]).toEqual([true, false])
    pass(3_600_000)
    expect(isListed(1, changed)).toBe(false)
  })

  it('are bounded, and those in use make no room for others', () => {
    const { pass, isListed } = withClock()
    const changed = 900n * second + 1n
    const size = { count: 254 }
    for (let ino = 0; ino < 300; ino += 1) isListed(ino, changed, size)
    const isKnown = (ino: number) => !isListed(ino, changed, size)
    expect([isKnown(0), isKnown(255), isKnown(256), isKnown(299)]).toEqual([true, true, false, false])
    pass(59_000)
    expect([isKnown(0), isKnown(300)]).toEqual([true, false])
    pass(2_000)
    expect([isKnown(300), isKnown(300)]).toEqual([false, true])
    expect([isKnown(0), isKnown(1)]).toEqual([true, false])
  })

  it('are for ext4, xfs, btrfs and tmpfs only', () => {
    for (const type of [0xef53, 0x58465342, 0x9123683e, tmpfs]) expect(isExactType(type)).toBe(true)
    // FUSE, overlayfs, NFS, CIFS, ZFS
    for (const type of [fuseType, 0x794c7630, 0x6969, 0xff534d42, 0x2fc12fc1]) expect(isExactType(type)).toBe(false)
  })
})

/** In a mount namespace of its own: how often known entries are asked for, in a directory and in what is mounted over it. */
const script = `
const [source, mount, root] = process.argv.slice(1)
const { execFileSync, spawn } = await import('node:child_process')
const { mkdirSync, writeFileSync } = await import('node:fs')
const { createLocalAdapter } = await import(source + '/index.ts')
const { knownEntries } = await import(source + '/read/known-entries.ts')
const of = knownEntries.of.bind(knownEntries)
let count = 0
knownEntries.of = (...args) => (count++, of(...args))
for (const name of ['tree/sub/a', 'lower/sub/b', 'upper', 'work', 'plain/c']) mkdirSync(root + '/' + name, { recursive: true })
async function uses(path) {
  count = 0
  const adapter = await createLocalAdapter({ root: path, owner: { uid: 1000, gid: 1000 } })
  const names = []
  for await (const { name } of adapter.list('/', { recursive: true })) names.push(name)
  await adapter.close()
  return [names.sort().join(' '), count]
}
const plain = await uses(root + '/plain')
let child
if (mount === 'overlay') {
  const options = 'lowerdir=' + root + '/lower,upperdir=' + root + '/upper,workdir=' + root + '/work'
  execFileSync('mount', ['-t', 'overlay', '-o', options, 'overlay', root + '/tree/sub'])
} else {
  child = spawn('rclone', ['mount', '--config', '/dev/null', '--cache-dir', root + '/work', root + '/lower/sub', root + '/tree/sub'], { stdio: 'ignore' })
  const { statfsSync } = await import('node:fs')
  while (statfsSync(root + '/tree/sub').type !== 0x65735546) await new Promise((resolve) => setTimeout(resolve, 20))
}
console.log(JSON.stringify({ plain, mounted: await uses(root + '/tree/sub'), above: await uses(root + '/tree') }))
child?.kill()
process.exit()
`

describeWith(component('fuse'), 'entries that are known, where other file systems are mounted', () => {
  it.skipIf(process.getuid?.() !== 0).each(['overlay', 'fuse'])(
    'are not used on %s',
    { timeout: 20_000 },
    async (mount) => {
      const { path } = await scratch()
      const args = ['--mount', '--propagation', 'private', process.execPath, '--conditions=@ws/source']
      const source = join(import.meta.dirname, '../src')
      const run = spawnSync('unshare', [...args, '--input-type=module', '-e', script, source, mount, path], {
        cwd: join(import.meta.dirname, '..'),
        encoding: 'utf8',
      })
      expect({ stderr: run.stderr, status: run.status }).toEqual({ stderr: '', status: 0 })
      const below = mount === 'overlay' ? 'b sub' : 'b'
      expect(JSON.parse(run.stdout)).toEqual({
        plain: ['c', 2],
        mounted: [below, 0],
        // On the way to a mount that may hang, nothing is done at once.
        above: mount === 'overlay' ? ['b sub sub', 1] : ['b sub', 0],
      })
    },
  )
})
