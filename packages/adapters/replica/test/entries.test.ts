import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { WorkspaceError } from '@ws/core'
import type { Entry, EntryNote, StorageAdapter } from '@ws/core/adapter'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createReplicaAdapter } from '../src/index.ts'
import { at, failureOf, filesOf, type Machine, machineOf, openMachine, put } from './support/site.ts'

/** As commands do. Answers what is told of it. */
async function command({ replica, root }: Machine, work: (root: string) => void = () => undefined) {
  const end = await replica.beginCommand?.()
  work(root)
  return ((await end?.()) ?? []) as readonly EntryNote[]
}

const denied = (operation: string): WorkspaceError =>
  new WorkspaceError({ code: 'EBACKEND', operation, reason: 'is archived', remedy: 'restore it first' })

/** A store that refuses some operations on some paths. It answers for all others. */
function denying(files: Record<string, string>, operations: readonly ('read' | 'write' | 'delete')[], of: RegExp) {
  const store: StorageAdapter = createMemoryAdapter({ files })
  const calls: string[] = []
  const plain = Object.fromEntries(operations.map((operation) => [operation, store[operation].bind(store)]))
  for (const operation of operations) {
    const run = plain[operation] as (...given: unknown[]) => Promise<unknown>
    const guarded = (...given: unknown[]): Promise<unknown> => {
      if (!of.test(String(given[0]))) return run(...given)
      calls.push(`${operation} ${String(given[0])}`)
      return Promise.reject(denied(operation))
    }
    Object.assign(store, { [operation]: guarded })
  }
  return { store, calls, allow: () => void Object.assign(store, plain) }
}

describe('one entry never stops the others', () => {
  it('[HO5] a store that refuses half of its objects: the others come, and each missing one is named once', async () => {
    const names = Array.from({ length: 40 }, (_, number) => `/f${number}`)
    const files = Object.fromEntries(names.map((name) => [name, name]))
    const { store, calls, allow } = denying(files, ['read'], /[02468]$/u)
    const machine = await openMachine(store)
    const notes = await command(machine, (root) => writeFileSync(`${root}/mine`, 'mine'))
    expect(notes).toHaveLength(20)
    expect(notes[0]).toEqual({ path: '/f0', reason: 'is in the store, and not on this machine: it is archived' })
    const odd = Object.fromEntries(names.filter((name) => /[13579]$/u.test(name)).map((name) => [name, name]))
    expect(await filesOf(machine.replica)).toEqual({ ...odd, '/mine': 'mine' })
    expect(machine.replica.status().leftOut).toHaveLength(20)
    const asked = calls.length
    expect(await command(machine)).toEqual([])
    expect(calls).toHaveLength(asked) // not at each command
    expect(await failureOf(machine.replica.stat(at('/f0')))).toMatchObject({ code: 'ENOTSUP', path: '/f0' })
    await machine.replica.flush()
    allow()
    await machine.replica.refresh?.()
    expect(machine.replica.status().leftOut).toEqual([])
    expect(await filesOf(machine.replica)).toEqual(await filesOf(store))
  })

  it('[RE3] what a machine writes over an object that it cannot have is kept beside it', async () => {
    const { store, allow } = denying({ '/a.txt': 'archived' }, ['read'], /a\.txt$/u)
    const machine = await openMachine(store, { machine: 'me' })
    const notes = await command(machine, (root) => writeFileSync(`${root}/a.txt`, 'mine'))
    const kept = expect.stringMatching(/^\/a\.conflict-.*-me\.txt$/u) as string
    expect(notes).toContainEqual(expect.objectContaining({ path: '/a.txt', kept }))
    await machine.replica.close()
    allow()
    expect(Object.values(await filesOf(store)).sort()).toEqual(['archived', 'mine'])
  })

  it.each(['write', 'delete'] as const)('[RE2] a store that refuses each %s of a path', async (operation) => {
    const { store, allow } = denying({ '/no': 'no', '/yes': 'yes' }, [operation], /no$/u)
    const machine = await machineOf(store)
    const act = (root: string, name: string): void =>
      operation === 'write' ? writeFileSync(`${root}/${name}`, 'new') : rmSync(`${root}/${name}`)
    const notes = await command(machine, (root) => ['no', 'yes'].forEach((name) => act(root, name)))
    expect(notes).toEqual([{ path: '/no', reason: expect.stringContaining('it is archived') as string }])
    expect(await filesOf(store)).toEqual(operation === 'write' ? { '/no': 'no', '/yes': 'new' } : { '/no': 'no' })
    expect(await command(machine)).toEqual([])
    if (operation === 'delete') expect(await filesOf(machine.replica)).toEqual({ '/no': 'no' })
    else expect(await failureOf(machine.replica.flush())).toMatchObject({ code: 'ENOTSUP', path: '/no' })
    allow()
    await machine.replica.flush()
    expect(await filesOf(store)).toEqual(await filesOf(machine.replica))
  })

  it('[RE2] a directory that holds keys which no path names: its removal is refused by name, and others go on', async () => {
    const store = createMemoryAdapter({ files: { '/d/f': 'f' } })
    const machine = await machineOf(store)
    const { delete: remove } = store
    store.delete = async (path, options) => {
      if (path !== '/d') return remove.call(store, path, options)
      throw new WorkspaceError({ code: 'ENOTEMPTY', operation: 'delete', path, reason: 'is not empty', remedy: 'none' })
    }
    const notes = await command(machine, (root) => {
      rmSync(`${root}/d`, { recursive: true })
      writeFileSync(`${root}/new`, 'new')
    })
    expect(notes).toEqual([{ path: '/d', reason: expect.stringContaining('refuses its removal') as string }])
    expect(await command(machine)).toEqual([])
    await machine.replica.close()
    expect(await filesOf(store)).toEqual({ '/d': 'directory', '/new': 'new' })
  })

  it('[RE2] names and sizes that the store cannot hold: commands go on, and `close` says so and ends it', async () => {
    const store = createMemoryAdapter()
    const machine = await machineOf(store, { maxFileBytes: 10 })
    const notes = await command(machine, (root) => {
      writeFileSync(Buffer.concat([Buffer.from(`${root}/n`), Buffer.of(0xff)]), 'n')
      writeFileSync(`${root}/large`, 'x'.repeat(11))
      writeFileSync(`${root}/small`, 'x')
    })
    expect(notes.map(({ path }) => path)).toEqual(expect.arrayContaining(['/large', '/n\u{fffd}']))
    expect(notes).toHaveLength(2)
    expect(await command(machine)).toEqual([])
    expect(await failureOf(machine.replica.close())).toMatchObject({ code: 'ENOTSUP', operation: 'close' })
    await machine.replica.close()
    expect(await filesOf(store)).toEqual({ '/small': 'x' })
  })

  it('[RE2] more entries than `maxFiles`: the first ones are saved, the rest is named, and a rename goes on', async () => {
    const store = createMemoryAdapter({ files: { '/a': 'a', '/b': 'b' } })
    const machine = await machineOf(store, { maxFiles: 3 })
    const make = (root: string): void => ['c', 'd', 'e'].forEach((name) => writeFileSync(`${root}/${name}`, name))
    const notes = await command(machine, make)
    expect(notes).toHaveLength(2)
    expect(notes[0]?.reason).toContain('the directory has more than 3 entries')
    const saved = Object.keys(await filesOf(store))
    expect(saved).toHaveLength(3)
    const left = notes.map(({ path }) => path as string)
    expect([...saved, ...left].sort()).toEqual(['/a', '/b', '/c', '/d', '/e'])
    await command(machine, (root) => left.forEach((path) => rmSync(`${root}${path}`)))
    expect(await command(machine, (root) => renameSync(`${root}/a`, `${root}/z`))).toEqual([])
    expect(await filesOf(store)).toEqual(await filesOf(machine.replica))
    await machine.replica.close()
  })

  it('[HO5] keys that no path can name, and an object below the name of another, are named once', async () => {
    const store = createMemoryAdapter({ files: { '/a/b': 'b', '/(empty)': 'a name as any other' } })
    const list = store.list.bind(store)
    const odd = [
      { path: at('/(empty)'), name: '(empty)', type: 'directory', unreachable: true },
      { path: at('/a'), name: 'a', type: 'file', unreachable: true },
    ] as const
    store.list = async function* (...given) {
      yield* odd as unknown as Entry[]
      yield* list(...given)
    }
    const machine = await machineOf(store)
    const where = 'is in the store, and not on this machine'
    const named = [
      { path: '/(empty)', reason: `${where}: another entry of the store has its name, too` },
      { path: '/a', reason: `${where}: another entry of the store has its name, too` },
    ]
    expect(await command(machine, (root) => writeFileSync(`${root}/(empty)`, 'edited'))).toEqual(named)
    expect(await command(machine, (root) => writeFileSync(`${root}/a/b`, 'edited'))).toEqual([])
    await machine.replica.flush()
    store.list = list
    expect(await filesOf(store)).toEqual({ '/a': 'directory', '/a/b': 'edited', '/(empty)': 'edited' })
  })

  it('[RE3] a directory that goes here, and is a file there by now, takes no file with it', async () => {
    const store = createMemoryAdapter()
    const one = await machineOf(store, { persist: 'flush' })
    mkdirSync(`${one.root}/d`)
    await one.replica.flush()
    await store.delete(at('/d'))
    await put(store, '/d', 'by another')
    rmSync(`${one.root}/d`, { recursive: true })
    await one.replica.flush()
    await one.replica.refresh?.()
    for (const side of [store, one.replica]) expect(await filesOf(side)).toEqual({ '/d': 'by another' })
  })
})

describeWith(s3Needs('r2'), 'a bucket with keys that other programs have made', () => {
  it('[RE3] keeps both sides of a collision under names that show it, and every object', { tags: 'all' }, async () => {
    const server = await sharedS3Server('r2')
    onTestFinished(() => server.close())
    const { bucket, endpoint, region, credentials } = server
    const place = { bucket, endpoint, region, credentials, prefix: 'collisions' } as const
    const open = (): Promise<StorageAdapter> => createS3Adapter({ ...place, symlinks: 'rclonelink' })
    const bare = await createS3Adapter(place)
    await put(bare, '/t', 'a file')
    await put(bare, '/l.rclonelink', 'elsewhere')
    const machines = [await machineOf(await open()), await machineOf(await open())]
    // another program gives both names to something else
    await put(bare, '/t/x', 'in a directory')
    await put(bare, '/l', 'a file')
    for (const machine of [...machines, ...machines]) await command(machine)
    const files = await filesOf(await open())
    const [link, file] = ['/l', '/t'].map((name) =>
      Object.keys(files).find((path) => path.startsWith(`${name}.conflict-`)),
    ) as [string, string]
    expect(files).toEqual({
      ...{ '/t': 'directory', '/t/x': 'in a directory', '/l': 'a file' },
      ...{ [file]: 'a file', [link]: '-> elsewhere' },
    })
    for (const { replica } of machines) {
      expect(await filesOf(replica)).toEqual(files)
      expect(
        replica
          .status()
          .leftOut.map(({ path }) => path)
          .sort(),
      ).toEqual(['/l', '/t'])
    }
    // the directory goes: the object that it had hidden stays
    await command(machines[0] as Machine, (root) => rmSync(`${root}/t`, { recursive: true }))
    await command(machines[1] as Machine)
    expect(await filesOf((machines[1] as Machine).replica)).toMatchObject({ '/t': 'a file', [file]: 'a file' })
  })

  it('[HO5] names that the bucket cannot hold, in either direction, stop nothing', async () => {
    const server = await sharedS3Server('r2')
    onTestFinished(() => server.close())
    const { bucket, endpoint, region, credentials } = server
    const place = { bucket, endpoint, region, credentials, prefix: 'names' } as const
    const store = await createS3Adapter({ ...place, symlinks: 'rclonelink' })
    const machine = await machineOf(store)
    const notes = await command(machine, (root) => {
      for (const name of ['out.txt\r', 'a\nb', 'l\u2028s', 'x.rclonelink']) writeFileSync(`${root}/${name}`, name)
      mkdirSync(`${root}/d\t`)
      symlinkSync('a', `${root}/k\u{1b}`)
      writeFileSync(`${root}/fine`, 'fine')
    })
    expect(notes.map(({ path }) => path).sort()).toEqual(
      ['/a\nb', '/d\t', '/k\u{1b}', '/l\u2028s', '/out.txt\r', '/x.rclonelink'].sort(),
    )
    expect(await filesOf(store)).toEqual({ '/fine': 'fine' })
    expect(await command(machine, (root) => renameSync(`${root}/fine`, `${root}/fi\tne`))).toEqual([
      { path: '/fi\tne', reason: expect.stringMatching(/^is on this machine, and not in the store: /u) },
      { path: '/fine', reason: 'is in the store, and not on this machine: it was moved to where it cannot be saved' },
    ])
    expect(await filesOf(store)).toEqual({ '/fine': 'fine' })
    expect(await command(machine, (root) => renameSync(`${root}/fi\tne`, `${root}/finer`))).toEqual([])
    expect(await filesOf(store)).toEqual({ '/finer': 'fine' })
    expect(await failureOf(machine.replica.close())).toMatchObject({ code: 'ENOTSUP' })
    const next = await createReplicaAdapter({ store })
    expect(await filesOf(next)).toEqual({ '/finer': 'fine' })
    await next.close()
  })
})
