import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import { LinkSignal } from '@ws/core/adapter'
import type { Workspace } from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, put } from '@ws/test-fixtures'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'

export const adapterNames = ['memory', 'local'] as const
export type AdapterName = (typeof adapterNames)[number]

/** A small tree in a store, with a secret beside it, that hostile paths are tried on. */
export interface HostileSite extends AsyncDisposable {
  readonly adapter: StorageAdapter
  readonly workspace: Workspace
  /** Host path of the directory that holds everything: no error may reveal it. */
  readonly scratch: string
  /** Host path of the secret beside the root. */
  readonly canary: string
  /** Puts the tree back as it was. */
  reset(): Promise<void>
  /** The store's entries, by path from its root, without following anything. */
  contents(): Promise<Map<string, string>>
  /** The surroundings of the store: they must never change. */
  outside(): string
}

export const secret = 'a secret that no path leads to'
export const marker = 'only-outside'

const files = { 'file.txt': 'a file\n', 'dir/x': 'x\n', 'dir/sub/y': 'y\n' }

export async function openHostile(name: AdapterName): Promise<HostileSite> {
  const scratch = await createScratchDirectory()
  const root = join(scratch.path, 'threads/t1')
  const canary = join(scratch.path, 'threads/t12/secret.txt')
  await put(canary, secret, scratch.path)
  await put(join(scratch.path, 'threads/t12', marker), secret, scratch.path)

  const fill = async (): Promise<void> => {
    for (const [path, content] of Object.entries(files)) await put(join(root, path), content, scratch.path)
    await symlink('file.txt', join(root, 'in'))
  }
  await fill()
  let inner: StorageAdapter | undefined
  const open = async (): Promise<{ adapter: StorageAdapter; workspace: Workspace }> => {
    const adapter =
      name === 'local'
        ? await createLocalAdapter({ root, owner: scratch.owner })
        : createMemoryAdapter({ files: absolute(files) })
    if (name === 'memory') await adapter.createSymlink?.('/in' as MountPath, 'file.txt')
    inner = adapter
    // with no scratch of its own, each path that it takes leads into the one store
    return { adapter, workspace: await createWorkspace({ mounts: [{ at: '/', adapter }], scratch: false }) }
  }
  let current = await open()

  return {
    get adapter() {
      return current.adapter
    },
    get workspace() {
      return current.workspace
    },
    scratch: scratch.path,
    canary,
    async reset() {
      if (name === 'memory') {
        current = await open()
        return
      }
      const found = readDisk(root)
      const isAsItWas =
        found.size === 6 &&
        Object.entries(files).every(([path, content]) => found.get(`/${path}`) === content) &&
        found.get('/in') === 'symlink'
      if (isAsItWas) return
      for (const entry of await readdir(root, { encoding: 'buffer' })) {
        await rm(Buffer.concat([Buffer.from(`${root}/`), entry]), { recursive: true, force: true })
      }
      await fill()
    },
    contents: async () => (name === 'local' ? readDisk(root) : readStore(current.adapter)),
    outside() {
      const beside = readDisk(join(scratch.path, 'threads/t12'), true)
      return JSON.stringify([...beside, readdirSync(scratch.path), readdirSync(join(scratch.path, 'threads'))])
    },
    async [Symbol.asyncDispose]() {
      await current.workspace.close()
      await inner?.close()
      await scratch.remove()
    },
  }
}

function absolute(all: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(all).map(([path, content]) => [`/${path}`, content]))
}

function readDisk(directory: string, times = false, at = '', found = new Map<string, string>()): Map<string, string> {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    const stat = lstatSync(path, { bigint: true })
    const shown = `${at}/${name}${times ? ` ${stat.mtimeNs} ${stat.ctimeNs} ${stat.mode}` : ''}`
    if (stat.isSymbolicLink()) found.set(shown, 'symlink')
    else if (stat.isFile()) found.set(shown, readFileSync(path, 'utf8'))
    else {
      found.set(shown, 'directory')
      readDisk(path, times, `${at}/${name}`, found)
    }
  }
  return found
}

async function readStore(adapter: StorageAdapter): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for await (const { path, type } of adapter.list('/' as MountPath, { recursive: true })) {
    found.set(path, type === 'file' ? Buffer.from((await adapter.read(path)).bytes).toString() : type)
  }
  return found
}

// eslint-disable-next-line no-control-regex -- what must not reach a terminal
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/

/**
 * How a call ended: `done`, a code, or `link` where an adapter reports one. The forbidden words are looked for in both.
 */
export async function verdictOf(site: HostileSite, path: string, call: () => unknown): Promise<string> {
  try {
    const told = JSON.stringify([await gather(call())])
    if (told.includes(secret) || told.includes(marker)) expect.fail(`${show(path)} tells what is outside: ${told}`)
    return 'done'
  } catch (error) {
    if (error instanceof LinkSignal) return 'link'
    if (!isWorkspaceError(error)) throw error
    const { message } = error
    if (unsafe.test(message)) expect.fail(`a message is not fit for a terminal: ${JSON.stringify(message)}`)
    if (message.length > 2_000) expect.fail(`a message of ${message.length} characters for ${show(path)}`)
    const told = JSON.stringify(error) + String(error.stack)
    const given = path.startsWith('/') ? path : `/${path}`
    const forbidden = [
      secret,
      ...(given.includes('ws-test-') ? [] : [site.scratch]),
      ...(given.includes('/proc/') ? [] : ['/proc/']),
    ]
    for (const text of forbidden) if (told.includes(text)) expect.fail(`${show(path)} tells \`${text}\`: ${told}`)
    return error.code
  }
}

export function show(path: string): string {
  return JSON.stringify(path).slice(0, 200)
}

/** Everything that a result holds, streams and listings included. */
async function gather(result: unknown): Promise<unknown> {
  const value = await result
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (typeof value !== 'object' || value === null) return value
  if (Symbol.asyncIterator in value) {
    const items: unknown[] = []
    for await (const item of value as AsyncIterable<unknown>) items.push(await gather(item))
    return items
  }
  return await Promise.all(Object.entries(value).map(async ([key, part]) => [key, await gather(part)]))
}
