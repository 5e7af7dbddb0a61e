import { isWorkspaceError, quotePath } from '@ws/core'
import type { Version, VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'

export interface Changed {
  readonly before: Version
  readonly after: Version
  readonly oldBytes: Uint8Array
  readonly newBytes: Uint8Array
}

/** Milliseconds for which a change is computed anew when others change the file meanwhile. */
const patience = 5000
/** Bytes of a file that can be edited. */
const largest = 32 * 1024 * 1024

/**
 * Reads a file, computes its new content, and writes it if nothing changed in between; else it begins again, for 5 s. So no
 * change of another writer is lost.
 */
export async function changeFile(
  call: Call,
  path: VirtualPath,
  change: (bytes: Uint8Array) => Uint8Array,
): Promise<Changed> {
  const { workspace, signal } = call
  const end = Date.now() + patience
  for (let tries = 1; ; tries += 1) {
    const { bytes: oldBytes, stat } = await workspace.read(path, { maxBytes: largest, signal })
    const newBytes = change(oldBytes)
    try {
      const { version } = await workspace.write(path, newBytes, { ifVersion: stat.version, signal })
      call.session.see(path, version)
      call.record({ change: 'updated', path, before: stat.version, after: version })
      return { before: stat.version, after: version, oldBytes, newBytes }
    } catch (error) {
      if (!isWorkspaceError(error, 'ECONFLICT')) throw error
      if (Date.now() >= end) throw busy(path)
    }
    await pause(Math.random() * Math.min(5 * tries, 50), signal)
  }
}

function busy(path: VirtualPath): ToolProblem {
  return new ToolProblem({
    sentence: `${quotePath(path)} was changed by others again and again for 5 s`,
    remedy: 'nothing was changed here; call again',
    next: { operation: 'read', arguments: { path } },
    data: { code: 'ECONFLICT', path },
  })
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, milliseconds)
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    if (signal?.aborted === true) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
