import { randomUUID } from 'node:crypto'

import { isWorkspaceError, paths, type Version } from '@ws/core'
import type { Condition, MountPath, StorageAdapter } from '@ws/core/adapter'
import { z } from 'zod'

import { damaged } from './faults.ts'

interface Stored<Content> {
  readonly content: Content
  readonly version: Version
}

/** A nonce, new with each write. It identifies the writer, and makes each version unique where versions are computed from content. */
const nonceSchema = z.object({ nonce: z.string() })

export class ObjectFiles {
  readonly #adapter: StorageAdapter

  constructor(adapter: StorageAdapter) {
    this.#adapter = adapter
  }

  /** @throws WorkspaceError `EIO` for a truncated object, or an object that does not fit `schema` */
  async read<Schema extends z.ZodType>(path: MountPath, schema: Schema): Promise<Stored<z.output<Schema>> | undefined> {
    try {
      const { bytes, stat } = await this.#adapter.read(path)
      return { content: parse(bytes, schema), version: stat.version }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async write(path: MountPath, content: object, ifVersion: Condition): Promise<boolean> {
    const nonce = randomUUID()
    const bytes = Buffer.from(`${JSON.stringify({ nonce, ...content })}\n`)
    try {
      await this.#adapter.write(path, bytes, { ifVersion, parents: true, durable: true })
      return true
    } catch (error) {
      const isRefused = isWorkspaceError(error, 'ECONFLICT')
      if (!isRefused && !isWorkspaceError(error, 'EIO') && !isWorkspaceError(error, 'ETIMEDOUT')) throw error
      // the answer may be lost although the write succeeded
      const now = await this.read(path, nonceSchema)
      if (now?.content.nonce === nonce) return true
      if (isRefused) return false
      throw error
    }
  }

  async remove(path: MountPath): Promise<void> {
    await this.#adapter.delete(path, { force: true })
  }

  async *list(directory: string): AsyncGenerator<MountPath> {
    try {
      const entries = this.#adapter.list(paths.parseMount(directory, 'openJournal'), { recursive: true })
      for await (const { path, type, unreachable } of entries) {
        if (type === 'file' && unreachable !== true) yield path
      }
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
}

export function parse<Schema extends z.ZodType>(bytes: Uint8Array, schema: Schema): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
  } catch (error) {
    throw damaged(error)
  }
}

function isMissing(error: unknown): boolean {
  return isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')
}
