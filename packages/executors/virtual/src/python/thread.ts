import { codeOf } from '@ws/shell-tools/files'
import { readFileSync } from 'node:fs'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'

import type { ToWorker } from '../worker/protocol.ts'
import { Ended, type Job, systemCalls } from './calls.ts'
import type { Ask } from './content.ts'
import { Files } from './files.ts'
import { importsOf } from './imports.ts'
import { Library } from './library.ts'
import { Memory } from './memory.ts'
import type { FromPython, PythonData, PythonJob } from './protocol.ts'
import { assembly, type Exports } from './web-assembly.ts'

interface Ending {
  readonly exitCode: number
  readonly problem?: string
}

/** Pieces of output on their way. */
const mostUntaken = 64
/** Bytes for which a change between both outputs counts, since the order of both is kept. */
const costOfPiece = 256
const stackBytes = 8 * 1024 * 1024

const { folder, given, taken } = workerData as PythonData
const module = given ?? new assembly.Module(readFileSync(`${folder}/python.wasm`))
const library = new Library(readFileSync(`${folder}/python313.zip`))

const tell = (message: FromPython) => parentPort?.postMessage(message)
if (given === undefined) tell({ type: 'module', module })
// The thread runs one program. A second program would find the state of the first.
parentPort?.once('message', (job: PythonJob) => tell({ type: 'done', ...run(job) }))

function run({ port, limits, ...job }: PythonJob): Ending {
  const memory = new Memory(limits.maxMemory)
  const counts = new Int32Array(taken)
  const output = { bytes: 0, pieces: 0, latest: 0 }
  let hasRead = false
  let nothing: string | undefined
  const ask: Ask = (method, ...parameters) => {
    const before = Atomics.load(counts, 0)
    port.postMessage({ type: 'file', id: 0, method, parameters })
    Atomics.wait(counts, 0, before)
    const { message } = receiveMessageOnPort(port) as { message: ToWorker }
    if (message.type === 'value') return message.value
    throw Object.assign(new Error('refused'), { code: message.type === 'error' ? message.code : 'EIO' })
  }
  const files = new Files({ ask, library, maxFileBytes: limits.maxFileBytes, charge: (bytes) => memory.charge(bytes) })
  const calls = systemCalls({
    job,
    files,
    memory,
    print(descriptor, bytes) {
      output.bytes += bytes.length + (descriptor === output.latest ? 0 : costOfPiece)
      output.latest = descriptor
      // @defence python program that takes: is bounded, and says why
      if (output.bytes > limits.maxOutputBytes)
        throw new Ended(126, `more than ${limits.maxOutputBytes} bytes of output`)
      const count = Atomics.load(counts, 1)
      if (++output.pieces - count > mostUntaken) Atomics.wait(counts, 1, count)
      tell({ type: 'output', descriptor, bytes })
    },
    onInput() {
      if (!hasRead) tell({ type: 'read' })
      hasRead = true
    },
    onNothing: (call) => (nothing ??= call),
  })
  try {
    const { exports } = new assembly.Instance(module, importsOf(module, calls))
    const exitCode = start(exports as Exports, memory, job, files)
    // A program that ignores the status of `os.system` has not failed by itself.
    if (nothing !== undefined) return { exitCode: exitCode || 126, problem: nothing }
    // The message of a program that fills the memory may have found no memory.
    return exitCode !== 0 && memory.isShort
      ? { exitCode, problem: `more than ${memory.most} bytes of memory` }
      : { exitCode }
  } catch (error) {
    return ending(error)
  }
}

function start(exports: Exports, memory: Memory, { words }: Job, files: Files): number {
  memory.bind(exports)
  exports.__wasm_call_ctors()
  // The interpreter has 64 KiB of its own, which the path of a script overflows. It would then write into its own variables.
  exports._emscripten_stack_restore(exports.malloc(stackBytes) + stackBytes)
  const [count = 0, size = 0] = memory.sizes(words)
  const pointers = exports.malloc(4 * (count + 1) + size)
  memory.setTexts(pointers, pointers + 4 * (count + 1), words)
  memory.setNumber(pointers + 4 * count, 0)
  let exitCode: number
  try {
    exitCode = exports.__main_argc_argv(count, pointers)
    exports.__funcs_on_exit()
  } catch (error) {
    if (!(error instanceof Ended) || error.message !== '') throw error
    exitCode = error.status
  }
  exports.fflush(0)
  try {
    files.end()
  } catch (error) {
    throw new Ended(exitCode || 1, `a file that was left open could not be written: ${codeOf(error)}`)
  }
  return exitCode & 0xff
}

/** The end of a program that the interpreter did not end by itself. */
function ending(error: unknown): Ending {
  if (error instanceof Ended) return { exitCode: error.status, problem: error.message }
  if (error instanceof RangeError) return { exitCode: 139, problem: 'the calls are nested too deeply for this thread' }
  return { exitCode: 134, problem: 'the interpreter failed on this program' }
}
