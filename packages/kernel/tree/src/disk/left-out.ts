import { isOfOneEntry, nativeCode } from '../errors.ts'
import { isCovered } from './root.ts'

const mostNamed = 1_000
/** An entry exchanged since its name was read: the next scan tells. */
const exchanged: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL'])

interface Named {
  readonly path: string
  readonly reason: string
}

/** Entries that a scan has not looked at: taken to be as before, with everything below. A final slash: only entries below. */
export class LeftOut {
  readonly named: Named[] = []
  /** Without those passed in every scan, or until the next. */
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

  /** @param denied the reason where the permissions do not allow it */
  leaveAfter(error: unknown, path: string, denied: string): undefined {
    if (!isOfOneEntry(error)) throw error
    const code = nativeCode(error)
    if (exchanged.has(code)) return this.pass(path)
    return this.leave(path, code === 'EACCES' ? denied : 'the disk does not show it')
  }

  /** Known, and not saved. */
  name(path: string, reason: string): undefined {
    if (this.named.length < mostNamed) this.named.push({ path, reason })
  }
}
