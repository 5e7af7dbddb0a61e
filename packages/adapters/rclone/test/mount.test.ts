import { readFileSync, readlinkSync as readlink } from 'node:fs'
import { lstat, readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import {
  at,
  failureOf,
  mountNeeds,
  mountsBelow,
  open,
  openSite,
  openStore,
  optionsFor,
  processesNaming,
  rcloneOf,
  readText,
  scratch,
  write,
} from './support.ts'

/** Every file below a directory that is not below a mount, with its content. */
async function contents(directory: string): Promise<string> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile() && !entry.parentPath.includes('/mount'))
  const all = await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')))
  return all.join('\n')
}

describeWith(mountNeeds, 'owning a mount', () => {
  it('[RP1, RP3, RP12] mounts the prefix of a new thread, and shows nothing else of the bucket', async () => {
    const store = await openStore()
    await store.put('threads/t12/secret.txt', 'of another')
    await store.put('skills/system/search.md', 'how to search')
    const { adapter, root } = await openSite({}, store)
    expect(await Array.fromAsync(adapter.list(at('/')))).toEqual([])
    expect(await readdir(root)).toEqual([])
    await write(adapter, '/a.txt', 'mine')
    await adapter.flush()
    expect(await store.keys('threads/t1/')).toEqual(['threads/t1/a.txt'])
    expect((await failureOf(adapter.read(at('/secret.txt')))).code).toBe('ENOENT')
  })

  it('belongs to the owner, and the kernel keeps everybody else out', async () => {
    const { adapter, root } = await openSite()
    await write(adapter, '/dir/a.txt', 'x')
    const { uid, gid } = ordinaryOwner()
    for (const path of [root, join(root, 'dir'), join(root, 'dir/a.txt')]) {
      expect(await lstat(path)).toMatchObject({ uid, gid })
      expect((await lstat(path)).mode & 0o77).toBe(0)
    }
    const [line = ''] = mountsBelow(join(root, '..'))
    expect(line).toContain('default_permissions')
    expect((await adapter.hostDirectory(at('/'))).owner).toEqual(ordinaryOwner())
  })

  it('[RP16] shows no credential, bucket or endpoint to whoever looks at processes, mounts or files', async () => {
    const { adapter, directory, store, root } = await openSite()
    await write(adapter, '/a.txt', 'x')
    const { endpoint, credentials } = store.server
    const told = [store.bucket, endpoint, credentials.accessKeyId, credentials.secretAccessKey, 'threads/t1']
    const shown: string[] = [mountsBelow(join(root, '..')).join('\n')]
    for (const pid of await processesNaming(directory)) {
      shown.push(readFileSync(`/proc/${pid}/cmdline`, 'latin1'), readFileSync(`/proc/${pid}/environ`, 'latin1'))
    }
    expect(shown.length).toBeGreaterThan(2)
    for (const secret of told) expect(shown.filter((one) => one.includes(secret))).toEqual([])
    expect(shown[0]).toContain(' - fuse.rclone workspace ')
    const kept = await contents(directory)
    expect(kept).not.toContain(credentials.secretAccessKey)
    expect(kept).not.toContain(credentials.accessKeyId)
  })

  it('lets nobody use the control interface without its password', async () => {
    const { directory } = await openSite()
    const pid = await rcloneOf(directory)
    const sockets = (await readdir(`/proc/${pid}/fd`)).length
    expect(sockets).toBeGreaterThan(0)
    const ports = listeningPorts(pid, await readdir(`/proc/${pid}/fd`))
    expect(ports).toHaveLength(1)
    for (const command of ['rc/noop', 'core/version', 'core/command', 'operations/list', 'config/dump', 'vfs/stats']) {
      const response = await fetch(`http://127.0.0.1:${ports[0]}/${command}`, { method: 'POST' })
      expect(response.status, command).toBe(401)
    }
  })

  it('leaves nothing behind but the cache', async () => {
    const { adapter, directory } = await openSite()
    await write(adapter, '/a.txt', 'x')
    await adapter.close()
    expect(mountsBelow(directory)).toEqual([])
    expect(await processesNaming(directory)).toEqual([])
    const [own = ''] = await readdir(directory)
    expect((await readdir(join(directory, own))).sort()).toEqual(['cache', 'lock'])
  })

  it('[RP13] mounts read-only where asked, as often as wanted, and keeps no cache of it', async () => {
    const store = await openStore()
    await store.put('skills/system/search.md', 'how to search')
    const directory = await scratch()
    const options = { ...optionsFor(store, directory), prefix: 'skills/system', readOnly: true }
    const [one, other] = [await open(options), await open(options)]
    expect(await readText(one, '/search.md')).toBe('how to search')
    expect(await readText(other, '/search.md')).toBe('how to search')
    expect((await failureOf(one.write(at('/b'), new Uint8Array()))).code).toBe('EROFS')
    expect(one.capabilities.readOnly).toBe(true)
    await one.close()
    await other.close()
    expect(await readdir(directory)).toEqual([])
  })

  it('refuses a second mount of one part with one cache, which goes on', async () => {
    const { adapter, options } = await openSite()
    await write(adapter, '/a', 'x')
    expect(await failureOf(open(options))).toMatchObject({ code: 'EBUSY', operation: 'createRcloneAdapter' })
    expect(await readText(adapter, '/a')).toBe('x')
    expect((await adapter.status()).state).toBe('ready')
  })

  it('works at a mount point of one’s own', async () => {
    const mountPoint = await scratch()
    const { adapter, root } = await openSite({ mountPoint })
    expect(root).toBe(mountPoint)
    await write(adapter, '/a', 'x')
    await adapter.close()
    expect((await stat(mountPoint)).isDirectory()).toBe(true)
    expect(await readdir(mountPoint)).toEqual([])
  })
})

/** TCP ports of this machine that a process listens at. */
function listeningPorts(pid: number, descriptors: readonly string[]): number[] {
  const inodes = new Set<string>()
  for (const descriptor of descriptors) {
    try {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlink(`/proc/${pid}/fd/${descriptor}`)) ?? []
      if (inode !== undefined) inodes.add(inode)
    } catch {
      // closed meanwhile
    }
  }
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === '0A' && inodes.has(fields[9] ?? ''))
    .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16))
}
