import { createHash, timingSafeEqual } from 'node:crypto'

import { isWorkspaceError, paths, WorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The user of an `Authorization: Bearer …` header. Compares every token in constant time. */
export function bearerTokens(tokens: Readonly<Record<string, string>>) {
  const known = Object.entries(tokens).map(([token, userId]) => ({ hash: hashOf(token), userId }))
  return ({ headers }: { readonly headers: { readonly authorization?: string | undefined } }): string | undefined => {
    const given = hashOf(/^Bearer (.*)$/su.exec(headers.authorization ?? '')?.[1] ?? '')
    let found: string | undefined
    for (const { hash, userId } of known) if (timingSafeEqual(hash, given)) found = userId
    return found
  }
}

/** Records owners in the store. A thread belongs forever to the user that opened it first. */
export class Owners {
  readonly #store: StorageAdapter

  constructor(store: StorageAdapter) {
    this.#store = store
  }

  /** @throws WorkspaceError `EACCES` for another user's thread. A thread without an owner passes. */
  async check(threadId: string, userId: string): Promise<void> {
    const owner = await this.#find(threadId)
    if (owner !== undefined && owner !== userId) throw refusal(threadId)
  }

  /** Takes an unowned thread for the user; one of two racing users gets it. */
  async claim(threadId: string, userId: string): Promise<void> {
    if ((await this.#find(threadId)) === undefined) {
      try {
        const owner = new TextEncoder().encode(userId)
        await this.#store.write(placeOf(threadId), owner, { ifVersion: 'absent', parents: true })
      } catch (error) {
        if (!isWorkspaceError(error, 'ECONFLICT')) throw error
      }
    }
    await this.check(threadId, userId)
  }

  async #find(threadId: string): Promise<string | undefined> {
    try {
      return new TextDecoder().decode((await this.#store.read(placeOf(threadId))).bytes)
    } catch (error) {
      if (isWorkspaceError(error, 'ENOENT')) return undefined
      throw error
    }
  }
}

const placeOf = (threadId: string) =>
  paths.parseMount(`/owners/${hashOf(threadId.toLowerCase()).toString('hex')}`, 'own')

function refusal(threadId: string): WorkspaceError {
  const reason = `the thread \`${threadId}\` belongs to another user`
  return new WorkspaceError({ code: 'EACCES', operation: 'openThread', reason, remedy: 'choose another id' })
}
