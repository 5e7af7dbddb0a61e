/** @module-tag deep */
import { spawnSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'

import { PutObjectCommand } from '@aws-sdk/client-s3'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { isWorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { describeWith, rounds } from '@ws/test-fixtures'
import { seededRandom, type S3ServerName } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it, onTestFinished } from 'vitest'

import { Texts } from './support/changes.ts'
import { at, type Machine, machineOf } from './support/site.ts'

const maxFileBytes = 400
const seconds = Number(process.env['WS_STRANGE_SECONDS'] ?? 20)

/** Names that one side or the other cannot hold, and names that look like those of the machinery. */
const names: readonly Buffer[] = [
  ...['f0', 'f1', 'f2', 'd0', 'd1', 'é', 'e\u0301', 'a b', '100%', 'p+q', 'back\\slash', '-dash', '~', 'UP', 'up'],
  ...['line\nfeed', 'cr\r', 'tab\t', 'esc\u{1b}', 'del\u007f', 'ls\u2028', 'nel\u0085', 'bom\ufeff', 'rep\ufffd'],
  ...['x.rclonelink', '.rclonelink', 'x.rclonelink.rclonelink', 'f0.rclonelink', 'd0.rclonelink'],
  ...['.ws-scratch-01234567-89ab-cdef-0123-456789abcdef', '.ws-probe-01234567-89ab-cdef-0123-456789abcdef'],
  ...['n'.repeat(255), 'ü'.repeat(127), '...', '. ', 'f0.', 'f0.conflict-20260101T000000Z-m0'],
]
  .map((name) => Buffer.from(name))
  .concat([Buffer.of(0xff), Buffer.of(0x66, 0x30, 0xff), Buffer.of(0xc3), Buffer.of(0xed, 0xa0, 0x80)])

type Pick = (count: number) => number

/** The entries of a disk, by the path that a listing has for each. */
function onDisk(root: string): Map<string, { readonly type: string; readonly text: string; readonly place: Buffer }> {
  const found = new Map<string, { type: string; text: string; place: Buffer }>()
  const walk = (place: Buffer, path: string): void => {
    for (const name of readdirSync(place, { encoding: 'buffer' })) {
      const below = Buffer.concat([place, Buffer.from('/'), name])
      let own = `${path}/${name.toString()}`
      // names that are not UTF-8 can look alike
      while (found.has(own)) own += '\0'
      const status = lstatSync(below)
      const type = status.isDirectory()
        ? 'directory'
        : status.isSymbolicLink()
          ? 'symlink'
          : status.isFile()
            ? 'file'
            : 'other'
      const text = type === 'file' ? readFileSync(below, 'utf8') : type === 'symlink' ? readlinkSync(below) : ''
      found.set(own, { type, text, place: below })
      if (type === 'directory') walk(below, own)
    }
  }
  walk(Buffer.from(root), '')
  return found
}

/** One change of a program. */
function changeOnce(root: string, pick: Pick, texts: Texts, text: () => string): void {
  const directories = [root, `${root}/d0`, `${root}/d1`].filter((one) =>
    lstatSync(one, { throwIfNoEntry: false })?.isDirectory(),
  )
  const place = (): Buffer =>
    Buffer.concat([
      Buffer.from(`${directories[pick(directories.length)]}/`),
      names[pick(names.length)] ?? Buffer.from('f0'),
    ])
  const [one, other] = [place(), place()]
  const cover = (path: Buffer): void => {
    const status = lstatSync(path, { throwIfNoEntry: false })
    if (status?.isFile()) texts.cover(readFileSync(path, 'utf8'))
    if (status?.isDirectory())
      for (const name of readdirSync(path, { encoding: 'buffer' })) cover(Buffer.concat([path, Buffer.from('/'), name]))
  }
  const remove = (path: Buffer): void => {
    cover(path)
    spawnSync('rm', ['-rf', '--', path as unknown as string])
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) rmSync(path, { recursive: true, force: true })
  }
  const write = (path: Buffer, size = 0): void => {
    const body = `${text()}${'.'.repeat(size)}`
    writeFileSync(path, body)
    texts.write(body)
  }
  const acts = [
    () => {
      // a FIFO would wait for a reader
      if (lstatSync(one, { throwIfNoEntry: false })?.isFile() === false) return
      cover(one)
      write(one)
    },
    () => (remove(one), write(one)),
    () => (remove(one), write(one, maxFileBytes)),
    () => (remove(one), mkdirSync(one), write(Buffer.concat([one, Buffer.from('/in')]))),
    () => (remove(one), mkdirSync(one)),
    () => (remove(one), symlinkSync('f0', one)),
    () => remove(one),
    () => {
      if (
        lstatSync(one, { throwIfNoEntry: false }) === undefined ||
        lstatSync(other, { throwIfNoEntry: false }) !== undefined
      )
        return
      if (!other.toString('latin1').startsWith(`${one.toString('latin1')}/`)) renameSync(one, other)
    },
    () => (remove(one), spawnSync('mkfifo', [one.toString()])),
  ]
  try {
    acts[pick(acts.length)]?.()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EISDIR', 'ENOENT', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY', 'ELOOP', 'EINVAL'].includes(code)) throw error
  }
}

/** As a command of an agent: it is never refused. */
async function command({ replica, root }: Machine, work: (root: string) => void = () => undefined): Promise<number> {
  const end = await replica.beginCommand?.()
  work(root)
  return ((await end?.()) ?? []).length
}

const above = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((_, index, all) => `/${all.slice(0, index + 1).join('/')}`)

/** Everything of one side that the other lacks is named. */
async function expectNamed({ replica, root }: Machine, store: StorageAdapter, of: string): Promise<void> {
  const left = new Set(replica.status().leftOut.map(({ path }) => path as string))
  const isNamed = (path: string): boolean => above(path.replaceAll('\0', '')).some((one) => left.has(one))
  const disk = onDisk(root)
  const unnamed: string[] = []
  const listed = new Set<string>()
  for await (const { path, type, unreachable } of store.list(at('/'), { recursive: true })) {
    if (unreachable === true) {
      if (!left.has(path)) unnamed.push(`key ${path}`)
      continue
    }
    listed.add(path)
    const here = disk.get(path)
    const text =
      type === 'file'
        ? new TextDecoder().decode((await store.read(path)).bytes)
        : type === 'symlink'
          ? await store.readSymlink?.(path)
          : ''
    if ((here?.type !== type || here.text !== text) && !isNamed(path)) unnamed.push(`store ${type} ${path}`)
  }
  for (const [path, { type }] of disk) if (!listed.has(path) && !isNamed(path)) unnamed.push(`disk ${type} ${path}`)
  expect(unnamed, of).toEqual([])
}

interface Place {
  readonly open: () => Promise<StorageAdapter>
  /** Another program makes something that no path of an adapter can name, or that hides another entry. */
  readonly disturb?: ((pick: Pick, text: () => string) => Promise<void>) | undefined
}

/** Three machines and another program change one tree. Answers how many commands ran, and how many notes they got. */
async function round(seed: number, { open, disturb }: Place) {
  const random = seededRandom(seed)
  const pick: Pick = (count) => Math.floor(random() * count)
  const texts = new Texts()
  let written = 0
  const done = { commands: 0, notes: 0, changes: 0 }
  const stores = [await open(), await open(), await open()]
  const machines = await Promise.all(
    stores.map((store, index) => machineOf(store, { machine: `m${index}`, maxFileBytes })),
  )
  const turn = async (machine: Machine, index: number, changes: number): Promise<void> => {
    done.commands += 1
    done.changes += changes
    done.notes += await command(machine, (root) => {
      for (let change = 0; change < changes; change += 1)
        changeOnce(root, pick, texts, () => `m${index} ${seed} ${(written += 1)} `)
    })
  }
  for (let step = 0; step < 5; step += 1) {
    if (pick(2) === 0) await disturb?.(pick, () => `other ${seed} ${(written += 1)}`)
    if (pick(2) === 0) await Promise.all(machines.map((machine, index) => turn(machine, index, pick(5))))
    else for (const [index, machine] of machines.entries()) await turn(machine, index, pick(5))
  }
  for (let again = 0; again < 3; again += 1)
    for (const [index, machine] of machines.entries()) await turn(machine, index, 0)
  const store = await open()
  const kept: string[] = []
  for await (const { path, type, unreachable } of store.list(at('/'), { recursive: true }))
    if (type === 'file' && unreachable !== true) kept.push(new TextDecoder().decode((await store.read(path)).bytes))
  for (const machine of machines) {
    await expectNamed(machine, store, `seed ${seed}`)
    kept.push(...[...onDisk(machine.root).values()].map(({ text }) => text))
  }
  expect(texts.lostIn(Object.fromEntries(kept.entries())), `seed ${seed}`).toEqual([])
  for (const { replica } of machines) {
    await replica.close().catch((error: unknown) => {
      if (!isWorkspaceError(error, 'ENOTSUP')) throw error
    })
  }
  for (const one of [...stores, store]) await one.close()
  return done
}

async function run(place: (seed: number) => Place): Promise<void> {
  const sum = { commands: 0, notes: 0, changes: 0 }
  for (const one of rounds({ quick: 1, seconds })) {
    const done = await round(one + 1, place(one + 1))
    for (const name of ['commands', 'notes', 'changes'] as const) sum[name] += done[name]
  }
  console.info(JSON.stringify(sum))
}

const timeout = 3_600_000

it(
  '[HO5] [RE3] memory: strange names and types from three machines stop no command, and all are named',
  { timeout },
  () =>
    run(() => {
      const store = createMemoryAdapter()
      return { open: async () => store }
    }),
)

const servers: readonly S3ServerName[] = ['r2', 'ceph']
for (const name of servers) {
  describeWith(s3Needs(name), `a bucket on ${name}`, { timeout }, () => {
    it('[HO5] [RE3] strange names, keys and types from three machines stop no command, and all are named', async () => {
      const server = await sharedS3Server(name)
      onTestFinished(() => server.close())
      const { bucket, endpoint, region, credentials } = server
      const client = server.client()
      await run((seed) => {
        const place = { bucket, endpoint, region, credentials, prefix: `strange/${seed}` } as const
        const disturb = async (pick: Pick, text: () => string): Promise<void> => {
          const raw = ['', 'd0//x', 'd1/./y', './f0', 'd0/../f1', 'd1//', 'f2//'][pick(7)]
          const put = new PutObjectCommand({ Bucket: bucket, Key: `${place.prefix}/${raw}`, Body: 'raw' })
          // R2's simulator knows no signature of a key with dots
          if (raw !== '') await client.send(put).catch((error: unknown) => expect(name, String(error)).toBe('r2'))
          const bare = await createS3Adapter(place)
          const path = [
            '/f0/in',
            '/d0',
            '/d1/in/deep',
            '/f1.rclonelink',
            '/d0.rclonelink',
            '/f2',
            '/f2/f0/x',
            '/x.rclonelink/y',
          ]
          const body = new TextEncoder().encode(text())
          await bare
            .write(at(path[pick(path.length)] ?? ''), body, { ifVersion: 'absent', parents: true })
            .catch((error: unknown) => {
              if (!isWorkspaceError(error)) throw error // something has the name
            })
          await bare.close()
        }
        return { open: () => createS3Adapter({ ...place, symlinks: 'rclonelink' }), disturb }
      })
    })
  })
}
