import type { MessagePort } from 'node:worker_threads'

import type { VirtualLimits } from '../options.ts'
import type { Job } from './calls.ts'
import type { Module } from './web-assembly.ts'

export interface PythonData {
  /** The folder of CPython's files. */
  readonly folder: string
  /** The compiled interpreter of an earlier thread. */
  readonly given: Module | undefined
  /** Two 32-bit integers in shared memory: the number of answers, and of pieces of output that were taken. */
  readonly taken: SharedArrayBuffer
}

export interface PythonJob extends Job {
  readonly port: MessagePort
  readonly limits: Required<VirtualLimits>
}

export type FromPython =
  | { readonly type: 'module'; readonly module: Module }
  | { readonly type: 'output'; readonly descriptor: 1 | 2; readonly bytes: Uint8Array }
  | { readonly type: 'read' }
  | { readonly type: 'done'; readonly exitCode: number; readonly problem?: string }
