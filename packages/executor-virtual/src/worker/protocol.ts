import type { MessagePort } from 'node:worker_threads'

import type { FileMethod } from '../files/contract.ts'

/** The limits of the interpreter itself; the rest of its own are left as they are. */
export interface InterpreterLimits {
  readonly maxCommands: number
  readonly maxLoopIterations: number
  readonly maxCallDepth: number
  readonly maxOutputBytes: number
  readonly maxMemory: number
  readonly maxFileBytes: number
}

/** One command for a worker. Everything else about it goes over its own port. */
export interface WorkerCommand {
  readonly port: MessagePort
  readonly command: string
  readonly cwd: string
  /** The workspace's root. */
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  /** `later`: a stream, to be asked for when a command may read it. */
  readonly stdin: Uint8Array | 'later' | undefined
  readonly limits: InterpreterLimits
  /** One 32-bit integer in shared memory: other than 0 once the command is to stop. */
  readonly stopping: SharedArrayBuffer
}

export interface FileRequest {
  readonly type: 'file'
  readonly id: number
  readonly method: FileMethod
  readonly parameters: readonly unknown[]
}

/** Asks for the whole of standard input. */
export interface InputRequest {
  readonly type: 'input'
  readonly id: number
}

export interface Done {
  readonly type: 'done'
  readonly exitCode: number
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

export type FromWorker = FileRequest | InputRequest | Done

export type ToWorker =
  | { readonly type: 'value'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly code: string; readonly message: string }
  /** Stop at the next statement. */
  | { readonly type: 'stop' }
