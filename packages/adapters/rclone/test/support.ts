import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'

import { paths, type WorkspaceError, isWorkspaceError } from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'
import { component, createScratchDirectory, ordinaryOwner, tier } from '@ws/test-fixtures'
import { type FaultPlan, type S3Server, type S3ServerName, startFaultProxy } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, onTestFinished, vi } from 'vitest'

import { type RcloneAdapter, type RcloneAdapterOptions, createRcloneAdapter } from '../src/index.ts'

/** Ceph holds every name; the short tier needs no more than a package of npm. */
const usual: S3ServerName = tier === 'short' ? 'r2' : 'ceph'

/** The components that mounting a bucket takes. */
export const mountNeeds = [...s3Needs(usual), component('rclone'), component('fuse')]

export const at = (path: string): MountPath => paths.parseMount(path)
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (content: Uint8Array): string => new TextDecoder().decode(content)

/** A bucket as an independent client sees it. */
export interface Store {
  readonly server: S3Server
  readonly bucket: string
  /** Keys below a prefix, sorted. */
  keys(prefix?: string): Promise<string[]>
  get(key: string): Promise<string>
  put(key: string, content: string): Promise<void>
}

export async function openStore(server?: S3Server): Promise<Store> {
  const used = server ?? (await sharedS3Server(usual))
  if (server === undefined) onTestFinished(() => used.close())
  const bucket = await used.createBucket()
  const client = used.client()
  return {
    server: used,
    bucket,
    async keys(prefix = '') {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }))
      return Contents.map(({ Key = '' }) => Key).sort()
    },
    async get(key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
      return (await Body?.transformToString()) ?? ''
    },
    async put(key, content) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: content }))
    },
  }
}

/** A store with a proxy in front, which records, and can stop answering with its connections open. */
export async function storeThatHangs(given?: S3Server) {
  const store = await openStore(given)
  const proxy = await startFaultProxy(store.server)
  onTestFinished(() => proxy.close())
  const server = new Proxy(store.server, {
    get: (target, name) => (name === 'endpoint' ? proxy.endpoint : Reflect.get(target, name)),
  })
  return {
    proxy,
    store: { ...store, server } satisfies Store,
    hang: () => proxy.setFaults(() => ({ kind: 'hang', when: 'before' })),
    answer: () => proxy.setFaults(undefined),
    setFaults: (plan: FaultPlan) => proxy.setFaults(plan),
    /** Resolves when it has been asked for something from now on. */
    untilAsked: async () => {
      const { length } = proxy.requests
      await vi.waitFor(() => expect(proxy.requests.length).toBeGreaterThan(length), { timeout: 10_000, interval: 20 })
    },
  }
}

export interface Site {
  readonly adapter: RcloneAdapter
  readonly store: Store
  /** Host path of the mount. */
  readonly root: string
  /** Where caches are. */
  readonly directory: string
  /** The options it was made with, to make another one. */
  readonly options: RcloneAdapterOptions
}

export async function scratch(): Promise<string> {
  const directory = await createScratchDirectory({ prefix: 'ws-rclone-' })
  onTestFinished(() => directory.remove())
  return directory.path
}

export function optionsFor(store: Pick<Store, 'server' | 'bucket'>, directory: string): RcloneAdapterOptions {
  const { name, endpoint, region, credentials } = store.server
  return {
    endpoint,
    region,
    credentials,
    provider: name === 'ceph' ? 'Ceph' : 'Cloudflare',
    bucket: store.bucket,
    prefix: 'threads/t1',
    owner: ordinaryOwner(),
    directory,
    timeouts: { writeBack: 100 },
  }
}

/** A mounted prefix of a fresh bucket; gone after the test. */
export async function openSite(more: Partial<RcloneAdapterOptions> = {}, given?: Store): Promise<Site> {
  const store = given ?? (await openStore())
  const directory = more.directory ?? (await scratch())
  const usual = optionsFor(store, directory)
  const options = { ...usual, ...more, timeouts: { ...usual.timeouts, ...more.timeouts } }
  const adapter = await open(options)
  return { adapter, store, root: adapter.hostPath(at('/')), directory, options }
}

export async function open(options: RcloneAdapterOptions): Promise<RcloneAdapter> {
  const adapter = await createRcloneAdapter(options)
  onTestFinished(() => adapter.close().catch(() => undefined))
  return adapter
}

export async function write(adapter: StorageAdapter, path: string, content: string): Promise<string> {
  return (await adapter.write(at(path), bytes(content), { parents: true })).version
}

export async function readText(adapter: StorageAdapter, path: string): Promise<string> {
  return text((await adapter.read(at(path))).bytes)
}

export async function failureOf(promise: Promise<unknown>): Promise<WorkspaceError> {
  try {
    await promise
  } catch (error) {
    if (isWorkspaceError(error)) return error
    throw error
  }
  throw new Error('it did not fail')
}

/** Mounts below a directory, by the mount table. */
export function mountsBelow(directory: string): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.split(' ')[4]?.startsWith(`${directory}/`))
}

/** Processes whose command line names a directory: rclone and its keeper. */
export async function processesNaming(directory: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    try {
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(directory)) found.push(Number(name))
    } catch {
      // it has ended
    }
  }
  return found
}

/** The process that serves a mount. */
export async function rcloneOf(directory: string): Promise<number> {
  for (const pid of await processesNaming(directory)) {
    if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'rclone') return pid
  }
  throw new Error('no rclone serves this directory')
}

/** Stops the rclone of a directory. A signal takes effect in each thread a moment later, and an answer can come before. */
export async function stopRcloneOf(directory: string): Promise<number> {
  const pid = await rcloneOf(directory)
  process.kill(pid, 'SIGSTOP')
  const tasks = `/proc/${pid}/task`
  const states = () => readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/stat`, 'utf8'))
  await vi.waitFor(() => expect(states().every((state) => / T \d/u.test(state))).toBe(true))
  return pid
}

/** Threads of a process that wait for an answer of FUSE. */
export function waitingThreads(pid: number): number {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).filter((task) => isWaiting(`${tasks}/${task}`)).length
}

export function isWaiting(task: string): boolean {
  return /fuse|request_wait/.test(readFileSync(`${task}/wchan`, 'utf8'))
}
