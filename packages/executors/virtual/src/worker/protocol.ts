import type { ShellState } from '@ws/core'
import type { MessagePort } from 'node:worker_threads'

import type { FileMethod } from '../files/contract.ts'
import type { VirtualLimits } from '../options.ts'

/** A command for a worker. All further messages use the port in this message. */
export interface WorkerCommand {
  readonly port: MessagePort
  readonly command: string
  readonly cwd: string
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  /** The state in which the shell begins. Set: {@link Done} has the state in which the shell ends. */
  readonly shellState: string | undefined
  /** `later`: a stream, which the worker requests when a command may read its input. */
  readonly stdin: Uint8Array | 'later' | undefined
  readonly limits: Required<VirtualLimits>
  /** Whether `curl` exists. */
  readonly hasNetwork: boolean
  /** Whether `python3` exists. */
  readonly hasPython: boolean
  /** A 32-bit integer in shared memory; non-zero once the command must stop. */
  readonly stopping: SharedArrayBuffer
}

export interface FileRequest {
  readonly type: 'file'
  readonly id: number
  readonly method: FileMethod
  readonly parameters: readonly unknown[]
}

export interface InputRequest {
  readonly type: 'input'
  readonly id: number
}

export interface FetchRequest {
  readonly type: 'fetch'
  readonly id: number
  readonly url: string
  readonly follow: boolean
  readonly timeout: number | undefined
}

/** A python program, with the words of its command. */
export interface PythonRequest {
  readonly type: 'python'
  readonly id: number
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly stdin: Uint8Array
  /** Milliseconds that the script has left. */
  readonly timeout: number | undefined
}

export interface PythonEnd {
  readonly exitCode: number
  readonly pieces: readonly { readonly descriptor: 1 | 2; readonly bytes: Uint8Array }[]
  /** Whether the program has read standard input. */
  readonly hasRead: boolean
  /** The reason of an end that the program did not choose. */
  readonly problem?: string
}

/** The content of a URL, or the reason for a failure. */
export type Fetched =
  | { readonly status: number; readonly body: Uint8Array }
  | { readonly code: string; readonly reason: string }

export interface Done {
  readonly type: 'done'
  readonly exitCode: number
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly shellState?: ShellState | undefined
}

/** Output since the last report. The main thread keeps the output in case the command is killed. */
export interface Progress {
  readonly type: 'progress'
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly running: string
}

export type FromWorker = FileRequest | InputRequest | FetchRequest | PythonRequest | Progress | Done

export type ToWorker =
  | { readonly type: 'value'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly code: string; readonly message: string }
  | { readonly type: 'stop' }
