import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { type ScratchDirectory, createScratchDirectory } from '@ws/test-fixtures'
import { onTestFinished } from 'vitest'

import { type LocalAdapterOptions, createLocalAdapter } from '../src/index.ts'

export const at = (path: string) => paths.parseMount(path)
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (content: Uint8Array): string => new TextDecoder().decode(content)
export const isRoot = process.getuid?.() === 0

/** Everything that a local adapter offers; these methods are always there. */
export type Local = Required<Omit<StorageAdapter, 'flush'>>

export interface Site {
  readonly adapter: Local
  /** Host path of the adapter's root. */
  readonly root: string
  /** A directory beside the root, which no operation may touch. */
  readonly outside: string
}

export async function scratch(): Promise<ScratchDirectory> {
  const directory = await createScratchDirectory()
  onTestFinished(() => directory.remove())
  return directory
}

export async function open(root: string, options: Partial<LocalAdapterOptions> = {}): Promise<Local> {
  const adapter = await createLocalAdapter({ root, ...options })
  onTestFinished(() => adapter.close())
  return adapter as Local
}

/** An adapter on an empty directory of an ordinary user; gone after the test. */
export async function openSite(options: Partial<LocalAdapterOptions> = {}): Promise<Site> {
  const inside = await scratch()
  const outside = await scratch()
  return { adapter: await open(inside.path, options), root: inside.path, outside: outside.path }
}

export async function readText(adapter: StorageAdapter, path: string): Promise<string> {
  return text((await adapter.read(at(path))).bytes)
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

export async function names(adapter: StorageAdapter, path = '/'): Promise<string[]> {
  return (await collect(adapter.list(at(path)))).map(({ name }) => name).toSorted()
}

/** The error that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await promise
  } catch (error) {
    return error as Record<string, unknown>
  }
  throw new Error('it did not fail')
}
