import { Thread } from '@ws/tree'

import { operation } from './options.ts'
import type { Hosted, Methods, ServiceData } from './worker/protocol.ts'

/** Milliseconds that an idle thread is kept for another replica. Starting a thread takes half a second. */
const linger = 5_000

let thread: Thread<Hosted> | undefined
let users = 0
let ending: ReturnType<typeof setTimeout> | undefined

function enter(): Thread<Hosted> {
  clearTimeout(ending)
  users += 1
  const module = new URL(`worker/main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
  thread ??= new Thread<Hosted>({ module, data: {}, operation })
  return thread
}

function leave(): void {
  users -= 1
  if (users > 0) return
  ending = setTimeout(() => {
    const last = thread
    thread = undefined
    void last?.close()
  }, linger).unref()
}

/** Runs the directory and state of one replica in a worker thread. The calling thread never waits for a disk. */
export class Disk {
  readonly #thread: Thread<Hosted>
  readonly #replica: number
  #isClosed = false

  private constructor(used: Thread<Hosted>, replica: number) {
    this.#thread = used
    this.#replica = replica
  }

  /** @throws WorkspaceError `EBUSY` while another process has the state */
  static async open(data: ServiceData): Promise<Disk> {
    const used = enter()
    try {
      return new Disk(used, await used.ask('start', data))
    } catch (error) {
      leave()
      throw error
    }
  }

  ask<Name extends keyof Methods>(
    method: Name,
    ...args: Parameters<Methods[Name]>
  ): Promise<ReturnType<Methods[Name]>> {
    return this.#thread.ask('call', this.#replica, method, args) as Promise<ReturnType<Methods[Name]>>
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      await this.#thread.ask('end', this.#replica)
    } finally {
      leave()
    }
  }
}
