import { isWorkspaceError } from '@ws/core'
import type { WorkspaceEntry } from '@ws/core'
import { languageOf } from '@ws/documents'

import type { Call } from '../session/session.ts'

const mostSources = 40
const mostSignatures = 20
const largest = 256 * 1024

export interface ListedSignatures {
  readonly byPath: ReadonlyMap<string, readonly string[]>
  /** The missing package that would give exact signatures. */
  readonly missing?: string | undefined
}

/** Signatures of Python and TypeScript sources for a listing [FS12]; none for unreadable sources. */
export async function signaturesOf(call: Call, entries: readonly WorkspaceEntry[]): Promise<ListedSignatures> {
  const found = new Map<string, string[]>()
  let lacks: string | undefined
  const { signal } = call
  for (const { path, type } of entries) {
    const language = type === 'file' ? languageOf(path) : undefined
    if (language === undefined) continue
    if (found.size === mostSources) break
    try {
      const { bytes } = await call.workspace.read(path, { maxBytes: largest, signal })
      const source = new TextDecoder().decode(bytes)
      const { signatures, missing } = await call.session.documents.signatures(source, { language, signal })
      lacks ??= missing
      const shown = signatures.slice(0, mostSignatures)
      const more = signatures.length - shown.length
      found.set(path, [
        ...shown.map(({ text, line, depth }) => `${'  '.repeat(depth)}${text.slice(0, 200).toWellFormed()} :${line}`),
        ...(more > 0 ? [`… ${more} more`] : []),
      ])
    } catch (error) {
      if (!isWorkspaceError(error)) throw error
    }
  }
  return { byPath: found, missing: lacks }
}
