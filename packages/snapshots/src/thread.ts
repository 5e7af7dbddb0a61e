import { Worker } from 'node:worker_threads'

import { WorkspaceError } from '@ws/core'
import { ownMark, tempPrefix } from '@ws/adapter-local/internal'

import type { Answer, Methods, PlainError, Request, WorkerData } from './worker/protocol.ts'

/** The workspace names the operation that its caller knows. */
const operation = 'checkpoint'

/** Answers of a method, or its promise. */
type Result<Name extends keyof Methods> = ReturnType<Methods[Name]>

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The worker that reads, writes and compares, so that this thread never waits for a disk. */
export class Thread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #onIdle: (() => void)[] = []
  #last = 0
  #ended: unknown

  constructor(given: Omit<WorkerData, 'tempName'>) {
    const workerData: WorkerData = { ...given, tempName: `${tempPrefix}${ownMark()}-` }
    const isSource = import.meta.url.endsWith('.ts')
    this.#worker = new Worker(new URL(`worker/main.${isSource ? 'ts' : 'js'}`, import.meta.url), {
      workerData,
      env: {},
      argv: [],
      // SQLite is new in Node, which says so on standard error
      execArgv: ['--disable-warning=ExperimentalWarning', ...(isSource ? ['--conditions=@ws/source'] : [])],
    })
    this.#worker.unref()
    this.#worker.on('message', (answer: Answer) => this.#answer(answer))
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.once('exit', () => this.#end(undefined))
  }

  ask<Name extends keyof Methods>(method: Name, ...args: Parameters<Methods[Name]>): Promise<Result<Name>> {
    if (this.#ended !== undefined) return Promise.reject(ended(this.#ended))
    const id = (this.#last += 1)
    const request: Request = { id, method, args }
    if (this.#waiting.size === 0) this.#worker.ref()
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject })
      this.#worker.postMessage(request)
    })
  }

  /** Requests that were made before are answered first. */
  async close(): Promise<void> {
    while (this.#waiting.size > 0 && this.#ended === undefined)
      await new Promise<void>((resolve) => this.#onIdle.push(resolve))
    await this.#worker.terminate()
  }

  #answer(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('error' in answer) waiting?.reject(errorOf(answer.error))
    else waiting?.resolve(answer.result)
    if (this.#waiting.size > 0) return
    this.#worker.unref()
    for (const idle of this.#onIdle.splice(0)) idle()
  }

  #end(error: unknown): void {
    this.#ended ??= error ?? 'exit'
    for (const { reject } of this.#waiting.values()) reject(ended(error))
    this.#waiting.clear()
    for (const idle of this.#onIdle.splice(0)) idle()
  }
}

function errorOf({ code, reason, remedy, partial, native }: PlainError): Error {
  return new WorkspaceError({ code, operation, reason, remedy, native, partial })
}

function ended(native: unknown): Error {
  return new WorkspaceError({
    code: 'EIO',
    operation,
    reason: 'the thread of checkpoints has ended',
    remedy: 'make a new workspace; if it stays, tell the operator',
    native,
  })
}
