import { Worker } from 'node:worker_threads'

import { WorkspaceError } from '@ws/core'
import { ownMark, tempPrefix } from '@ws/adapter-local/internal'

import { type Answer, ending, type PlainError, type Request } from './worker/protocol.ts'

/** Milliseconds within which the worker must close all files. */
const patience = 10_000

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface ThreadOptions {
  readonly module: URL
  /** Data for the worker. The thread adds `tempName`, the owner's prefix of temporary names. */
  readonly data: object
  readonly operation: string
}

type Anything = { readonly [name: string]: unknown }
type Given<Method> = Method extends (...given: infer Arguments) => unknown ? Arguments : never
type Answered<Method> = Method extends (...given: never[]) => infer Result ? Result : never

/** The worker that reads, writes and compares, so that the main thread never waits for a disk. */
export class Thread<Methods extends { [Name in keyof Methods]: unknown } = Anything> {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #onIdle: (() => void)[] = []
  readonly #operation: string
  #last = 0
  #ended: unknown

  constructor({ module, data, operation }: ThreadOptions) {
    this.#operation = operation
    const isSource = module.pathname.endsWith('.ts')
    this.#worker = new Worker(module, {
      workerData: { ...data, tempName: `${tempPrefix}${ownMark()}-` },
      env: {},
      // memory for new objects: less memory makes scans slower, but more memory does not make them faster
      resourceLimits: { maxYoungGenerationSizeMb: 24 },
      argv: [],
      // suppresses Node's warning that its SQLite is experimental
      execArgv: ['--disable-warning=ExperimentalWarning', ...(isSource ? ['--conditions=@ws/source'] : [])],
    })
    this.#worker.unref()
    this.#worker.on('message', (answer: Answer) => this.#answer(answer))
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.once('exit', () => this.#end(undefined))
  }

  ask<Name extends keyof Methods>(method: Name, ...args: Given<Methods[Name]>): Promise<Answered<Methods[Name]>> {
    if (this.#ended !== undefined) return Promise.reject(ended(this.#operation, this.#ended))
    const id = (this.#last += 1)
    const request: Request<Name> = { id, method, args }
    if (this.#waiting.size === 0) this.#worker.ref()
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject })
      this.#worker.postMessage(request)
    })
  }

  /** Closes the thread after the answers to all earlier requests. */
  async close(): Promise<void> {
    while (this.#waiting.size > 0 && this.#ended === undefined)
      await new Promise<void>((resolve) => this.#onIdle.push(resolve))
    if (this.#ended !== undefined) return
    const exited = new Promise((resolve) => this.#worker.once('exit', resolve))
    this.#worker.ref()
    this.#worker.postMessage(ending)
    const late = setTimeout(() => void this.#worker.terminate(), patience)
    await exited
    clearTimeout(late)
  }

  #answer(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('error' in answer) waiting?.reject(errorOf(this.#operation, answer.error))
    else waiting?.resolve(answer.result)
    if (this.#waiting.size > 0) return
    this.#worker.unref()
    for (const idle of this.#onIdle.splice(0)) idle()
  }

  #end(error: unknown): void {
    this.#ended ??= error ?? 'exit'
    for (const { reject } of this.#waiting.values()) reject(ended(this.#operation, error))
    this.#waiting.clear()
    for (const idle of this.#onIdle.splice(0)) idle()
  }
}

export function errorOf(operation: string, { code, reason, remedy, partial, native }: PlainError): Error {
  return new WorkspaceError({ code, operation, reason, remedy, native, partial })
}

function ended(operation: string, native: unknown): Error {
  return new WorkspaceError({
    code: 'EIO',
    operation,
    reason: 'the thread that works on the disk has ended',
    remedy: 'make a new workspace; if it stays, tell the operator',
    native,
  })
}
