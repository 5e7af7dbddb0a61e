import { isWorkspaceError } from '@ws/core'
import type { Condition, MountPath } from '@ws/core/adapter'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { lookAtCachedFile } from '../cache/cached-file.ts'
import type { PathLocks } from './path-locks.ts'
import type { Replacing } from './replacing.ts'
import { isVersion, sameContentNow } from './versions.ts'
import type { Task } from '../mount/pending.ts'
import type { Open } from '../part/opened.ts'
import type { MountedPart } from '../part/mounted-part.ts'

export interface PathCondition {
  readonly path: MountPath
  readonly condition: Condition | undefined
}

/** `metadata`: host path of the cache's note on the file at the call's path. */
export type Look<Result> = (open: Open, metadata: string) => Promise<Result>

export type ConditionalLook<Result> = (
  open: Open,
  conditions: readonly (Condition | undefined)[],
  metadata: string,
) => Promise<Result>

/** Runs operations on a path whose file rclone may be replacing, or whose time rclone may be changing. */
export class Looks {
  readonly #part: MountedPart
  readonly #replacing: Replacing
  readonly #locks: PathLocks

  constructor(part: MountedPart, replacing: Replacing, locks: PathLocks) {
    this.#part = part
    this.#replacing = replacing
    this.#locks = locks
  }

  /** Repeats the operation if a file is missing for a moment only. */
  async look<Result>(call: Task, work: Look<Result>): Promise<Result> {
    return await this.#part.run(call, async (open) => {
      const metadata = join(open.metadata, call.path)
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await work(open, metadata)
        } catch (error) {
          if (attempt >= momentsAtMost || !this.#isMoment(error, call.path, metadata)) throw error
          await delay(momentMs)
        }
      }
    })
  }

  /**
   * Like {@link look}, with conditions: a version that differs only by its upload time still matches. The caller holds no lock
   * of these paths, neither before `work` nor after it.
   */
  async conditional<Result>(
    call: Task,
    conditions: readonly PathCondition[],
    work: ConditionalLook<Result>,
    mayRetry: () => boolean = () => true,
  ): Promise<Result> {
    for (let attempt = 0; ; attempt += 1) {
      const given = await Promise.all(conditions.map((one) => this.#conditionNow(one, call.signal)))
      try {
        return await this.look(call, (open, metadata) => work(open, given, metadata))
      } catch (error) {
        const isVain =
          !given.some(isVersion) || given.some((one, index) => isVersion(one) && one === conditions[index]?.condition)
        // The file's time may have changed between reading its version and using it.
        if (attempt === 3 || isVain || !isWorkspaceError(error, 'ECONFLICT') || !mayRetry()) throw error
      }
    }
  }

  /** Whether an error is momentary: a file that rclone replaces may be missing or unreadable, though it exists. */
  #isMoment(error: unknown, path: MountPath, metadata: string): boolean {
    const isReplaced = this.#replacing.has(path)
    if (isWorkspaceError(error, 'EIO')) return isReplaced && this.#part.mount.state === 'ready'
    return isWorkspaceError(error, 'ENOENT') && (isReplaced || lookAtCachedFile(metadata) !== undefined)
  }

  /**
   * The condition for the disk's adapter, which refuses an outdated version. The caller keeps other writers out: until the cache has
   * noted a new file, its version would look like the old file's version.
   */
  async #conditionNow(
    { path, condition }: PathCondition,
    signal: AbortSignal | undefined,
  ): Promise<Condition | undefined> {
    if (!isVersion(condition)) return condition
    const call = { operation: 'stat', path, signal }
    const { files, running, metadata } = await this.#part.opened(call)
    const context = { files, running, metadata, below: this.#part.below }
    const look = () => this.#locks.shared(path, () => sameContentNow(context, path, condition))
    return (await this.#part.track(call, look)) ?? condition
  }
}

/** Milliseconds between two attempts to find a file that is being replaced. */
const momentMs = 2
const momentsAtMost = 50
