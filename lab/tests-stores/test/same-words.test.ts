/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, isWorkspaceError, type Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, describeWith } from '@ws/test-fixtures'
import type { S3Server } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { mountBucket, mountNeeds } from './rclone/bucket.ts'

/** Calls that are wrong, on a workspace with these entries: `/d/f`, `/d/g`, `/e/f`, `/f`, `/empty/`, and a link `/l`. */
const mistakes: Readonly<Record<string, (workspace: Workspace) => Promise<unknown>>> = {
  'stat: nothing there': (workspace) => workspace.stat('none'),
  'stat: a file as a directory': (workspace) => workspace.stat('f/'),
  'read: nothing there': (workspace) => workspace.read('none'),
  'read: a directory': (workspace) => workspace.read('d'),
  'read: another version': (workspace) => workspace.read('f', { ifVersion: 'other' }),
  'read: more than asked for': (workspace) => workspace.read('f', { maxBytes: 0 }),
  'readStream: nothing there': (workspace) => workspace.readStream('none'),
  'readStream: a directory': (workspace) => workspace.readStream('d'),
  'readLines: a directory': (workspace) => workspace.readLines('d'),
  'readText: not UTF-8': (workspace) => workspace.readText('bytes'),
  'readSymlink: a file': (workspace) => workspace.readSymlink('f'),
  'readSymlink: nothing there': (workspace) => workspace.readSymlink('none'),
  'list: nothing there': (workspace) => workspace.list('none').next(),
  'list: a file': (workspace) => workspace.list('f').next(),
  'search: nothing there': (workspace) => workspace.search('x', { in: 'none' }).next(),
  'search: not a regular expression': (workspace) => workspace.search('(', { regex: true }).next(),
  'write: a directory': (workspace) => workspace.write('d', 'x'),
  'write: a file as a directory': (workspace) => workspace.write('new/', 'x'),
  'write: another version': (workspace) => workspace.write('f', 'x', { ifVersion: 'other' }),
  'write: a version of nothing': (workspace) => workspace.write('none', 'x', { ifVersion: 'other' }),
  'write: there already': (workspace) => workspace.write('f', 'x', { ifVersion: 'absent' }),
  'write: neither text nor bytes': (workspace) => workspace.write('f', 7 as never),
  'append: a directory': (workspace) => workspace.append('d', 'x'),
  'append: another version': (workspace) => workspace.append('f', 'x', { ifVersion: 'other' }),
  'createDirectory: there already': (workspace) => workspace.createDirectory('d', { recursive: false }),
  'createDirectory: a file is there': (workspace) => workspace.createDirectory('f'),
  'createDirectory: below a file': (workspace) => workspace.createDirectory('f/x'),
  'createSymlink: there already': (workspace) => workspace.createSymlink('f', 'd'),
  'createSymlink: an empty target': (workspace) => workspace.createSymlink('new', ''),
  'delete: nothing there': (workspace) => workspace.delete('none'),
  'delete: not empty': (workspace) => workspace.delete('d'),
  'delete: another version': (workspace) => workspace.delete('f', { ifVersion: 'other' }),
  'delete: the root': (workspace) => workspace.delete('/workspace', { recursive: true }),
  'move: nothing there': (workspace) => workspace.move('none', 'new'),
  'move: there already': (workspace) => workspace.move('f', 'd/f'),
  'move: a file over a directory': (workspace) => workspace.move('f', 'd', { overwrite: true }),
  'move: a directory over a file': (workspace) => workspace.move('d', 'f', { overwrite: true }),
  'move: over a directory that is not empty': (workspace) => workspace.move('d', 'e', { overwrite: true }),
  'move: into itself': (workspace) => workspace.move('d', 'd/x'),
  'move: another version': (workspace) => workspace.move('f', 'new', { ifSource: 'other' }),
  'move: to another version': (workspace) => workspace.move('f', 'd/f', { overwrite: true, ifDestination: 'other' }),
  'copy: nothing there': (workspace) => workspace.copy('none', 'new'),
  'copy: there already': (workspace) => workspace.copy('f', 'd/f'),
  'copy: a directory': (workspace) => workspace.copy('d', 'new', { recursive: false }),
  'copy: a file over a directory': (workspace) => workspace.copy('f', 'd', { overwrite: true }),
  'copy: a directory over a file': (workspace) => workspace.copy('d', 'f', { overwrite: true }),
  'copy: onto itself': (workspace) => workspace.copy('f', 'f'),
  'copy: into itself': (workspace) => workspace.copy('d', 'd/x'),
  'copy: another version': (workspace) => workspace.copy('f', 'new', { ifSource: 'other' }),
}

/** Stores without a hierarchy have nothing against these. */
const inHierarchies: typeof mistakes = {
  'stat: below a file': (workspace) => workspace.stat('f/x'),
  'read: below a file': (workspace) => workspace.read('f/x'),
  'list: below a file': (workspace) => workspace.list('f/x').next(),
  'delete: below a file': (workspace) => workspace.delete('f/x'),
  'write: below a file': (workspace) => workspace.write('f/x', 'x'),
  'append: below a file': (workspace) => workspace.append('f/x', 'x'),
  'move: below a file': (workspace) => workspace.move('d', 'f/x'),
  'copy: below a file': (workspace) => workspace.copy('f', 'f/x'),
  'write: no parent': (workspace) => workspace.write('none/x', 'x', { parents: false }),
  'append: no parent': (workspace) => workspace.append('none/x', 'x', { parents: false }),
  'createDirectory: no parent': (workspace) => workspace.createDirectory('none/x', { recursive: false }),
  'createSymlink: no parent': (workspace) => workspace.createSymlink('none/x', 'f'),
  'move: no parent': (workspace) => workspace.move('f', 'none/x', { parents: false }),
  'copy: no parent': (workspace) => workspace.copy('f', 'none/x', { parents: false }),
}

interface Said {
  readonly code: string
  readonly message: string
  readonly remedy: string | undefined
}

async function openOn(adapter: StorageAdapter): Promise<Workspace> {
  const workspace = await createWorkspace({ mounts: [{ at: '/workspace', adapter }] })
  for (const path of ['d/f', 'd/g', 'e/f', 'f']) await workspace.write(path, 'x')
  await workspace.write('bytes', new Uint8Array([0xff]))
  return workspace
}

async function saidOf(workspace: Workspace, wrong: typeof mistakes): Promise<Record<string, Said>> {
  const said: Record<string, Said> = {}
  for (const [name, call] of Object.entries(wrong)) {
    const error: unknown = await call(workspace).then(
      () => new Error('nothing was wrong'),
      (thrown: unknown) => thrown,
    )
    if (!isWorkspaceError(error)) throw new Error(`${name}: ${String(error)}`, { cause: error })
    const { code, message, remedy } = error
    said[name] = { code, message, remedy }
  }
  return said
}

const reference = saidOf(await openOn(createMemoryAdapter()), { ...mistakes, ...inHierarchies })

describe('the same mistake has the same words', () => {
  it('[PC10] every error in memory says what to do, in plain words', async () => {
    for (const [name, { message, remedy }] of Object.entries(await reference)) {
      expect(remedy, `${name}: ${message}`).toBeTruthy()
      expect(message).not.toMatch(/\bis no\b|that is none|anew\b/)
    }
  })

  it('[PC10] on a local disk', async () => {
    await using scratch = await createScratchDirectory()
    await using adapter = await createLocalAdapter({ root: scratch.path, owner: scratch.owner })
    expect(await saidOf(await openOn(adapter), { ...mistakes, ...inHierarchies })).toEqual(await reference)
  })

  describeWith(s3Needs('r2'), 'on S3', () => {
    let server: S3Server
    beforeAll(async () => {
      server = await sharedS3Server('r2')
    })
    afterAll(() => server.close())

    it('[PC10] with links', async () => {
      const { bucket, endpoint, region, credentials } = server
      const place = { bucket, prefix: 'same-words', endpoint, region, credentials }
      await using adapter = await createS3Adapter({ ...place, symlinks: 'rclonelink' })
      const expected = Object.fromEntries(Object.entries(await reference).filter(([name]) => name in mistakes))
      expect(await saidOf(await openOn(adapter), mistakes)).toEqual(expected)
    })
  })

  describeWith(mountNeeds, 'on an rclone mount', () => {
    it('[PC10] of a bucket of Ceph', async () => {
      await using mounted = await mountBucket()
      await using adapter = await mounted.bucket.adapter('same-words')
      const wrong = { ...mistakes, ...inHierarchies }
      // rclone before 1.74.4 has no links, and says so.
      const names = Object.keys(wrong).filter((name) => adapter.capabilities.symlinks || !name.includes('Symlink'))
      const pick = <Item>(all: Readonly<Record<string, Item>>) =>
        Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
      expect(await saidOf(await openOn(adapter), pick(wrong))).toEqual(pick(await reference))
    })
  })

  it('[PC10] after the adapter was closed', async () => {
    await using scratch = await createScratchDirectory()
    const adapters = [createMemoryAdapter(), await createLocalAdapter({ root: scratch.path, owner: scratch.owner })]
    const said: Said[] = []
    for (const adapter of adapters) {
      const workspace = await openOn(adapter)
      await adapter.close()
      said.push(...Object.values(await saidOf(workspace, { read: () => workspace.read('f') })))
    }
    expect(said[0]?.code).toBe('ECLOSED')
    expect(said[0]?.remedy).toBeTruthy()
    expect(said[1]).toEqual(said[0])
  })
})
