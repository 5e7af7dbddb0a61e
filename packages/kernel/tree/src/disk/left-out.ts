import { isOfOneEntry, nativeCode } from '../errors.ts'
import { isCovered } from './root.ts'

const mostNamed = 1_000
/** Codes for an entry that was exchanged since its name was read. The next scan reports it. */
const exchanged: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL'])

interface Named {
  readonly path: string
  readonly reason: string
}

/** Entries that a scan has not read. They count as unchanged, with everything below. With a final slash: only entries below. */
export class LeftOut {
  readonly named: Named[] = []
  /** Unknown paths, without paths that every scan skips or that are skipped until the next scan. */
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

  /** @param denied the reason, if the permissions deny access */
  leaveAfter(error: unknown, path: string, denied: string): undefined {
    if (!isOfOneEntry(error)) throw error
    const code = nativeCode(error)
    if (exchanged.has(code)) return this.pass(path)
    return this.leave(path, code === 'EACCES' ? denied : 'the disk does not show it')
  }

  /** Names an entry that is known and not saved. */
  name(path: string, reason: string): undefined {
    if (this.named.length < mostNamed) this.named.push({ path, reason })
  }
}
