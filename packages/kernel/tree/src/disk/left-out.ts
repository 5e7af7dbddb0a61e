import { isOfOneEntry, nativeCode } from '../errors.ts'
import { isCovered } from './root.ts'

const mostNamed = 1_000
/** Codes for an entry that was replaced after its name was read. The next scan reports it. */
const exchanged: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL'])

interface Named {
  readonly path: string
  readonly reason: string
}

/** Entries that a scan did not read. They count as unchanged, with everything below. A final slash means: only the entries below. */
export class LeftOut {
  readonly named: Named[] = []
  /** Paths that a scan should have read, but could not. Does not contain paths that every scan skips, or that changed during the scan. */
  readonly unknown: string[] = []
  readonly #passed = new Set<string>()

  covers(path: string): boolean {
    return isCovered(this.#passed, path)
  }

  pass(path: string): undefined {
    this.#passed.add(path)
  }

  leave(path: string, reason: string): undefined {
    this.pass(path)
    this.unknown.push(path)
    this.name(path, reason)
  }

  /** Handles an error of one entry; throws any other error. @param denied the reason if the permissions deny access */
  leaveAfter(error: unknown, path: string, denied: string): undefined {
    if (!isOfOneEntry(error)) throw error
    const code = nativeCode(error)
    if (exchanged.has(code)) return this.pass(path)
    return this.leave(path, code === 'EACCES' ? denied : 'the disk does not show it')
  }

  /** Reports an entry that exists but is not saved. */
  name(path: string, reason: string): undefined {
    if (this.named.length < mostNamed) this.named.push({ path, reason })
  }
}
