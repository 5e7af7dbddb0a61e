import { randomBytes } from 'node:crypto'

import { isWorkspaceError } from '@ws/core'
import { execError } from '@ws/core/executor'

import type { Machine, MachineProcess } from '../contract.ts'
import { digestOf, failure, readDigests, readRecords, remedy, type Seen } from './listing.ts'
import { decodeBase64, Reader } from './reader.ts'
import { type Order, scriptOf, variableOf } from './script.ts'
import { readArchive, type Content } from './unpack.ts'

export interface Changes {
  readonly gone: readonly Seen[]
  readonly fresh: readonly Seen[]
  /** By key. A file without a digest could not be read. */
  readonly digests: ReadonlyMap<string, string>
}

export interface CallOptions {
  readonly argv?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly hasInput?: boolean | undefined
}

/** One run of this package's program on the machine. */
export class Call {
  readonly process: MachineProcess
  readonly marker: string
  readonly stderr: Reader
  readonly #stdout: Reader
  readonly #isText: boolean

  private constructor(process: MachineProcess, { marker, isText }: Order) {
    this.process = process
    this.marker = marker
    this.#stdout = new Reader(process.stdout)
    this.stderr = new Reader(process.stderr)
    this.#isText = isText
  }

  static async start(machine: Machine, order: Omit<Order, 'marker'>, options: CallOptions): Promise<Call> {
    const { argv = [], env = {}, hasInput = false } = options
    const whole = { ...order, marker: `ws-${randomBytes(16).toString('hex')}:` }
    const variables = Object.entries(env).map(([name, value], index) => [variableOf(index), `${name}=${value}`])
    const more = { env: Object.fromEntries(variables), hasInput }
    try {
      return new Call(await machine.start(['sh', '-c', scriptOf(whole), 'sh', ...argv], more), whole)
    } catch (error) {
      if (isWorkspaceError(error)) throw error
      throw execError('ENOEXEC', 'the machine did not start the command', { remedy, native: error })
    }
  }

  /** The next message. Everything before it goes to the listener. `undefined`: the output ended before. */
  async message(listen: (chunk: Uint8Array) => void | Promise<void> = () => undefined): Promise<string[] | undefined> {
    if (!(await this.#stdout.until(this.marker, listen))) return undefined
    return (await this.#stdout.line())?.trim().split(' ')
  }

  /** Reads which files the machine took in, and the number of the command’s session. */
  async begun([, , sent = '', gone = '']: readonly string[]): Promise<{ changes: Changes; session: string }> {
    const bytes = await this.#stdout.take(Number(sent))
    const session = await this.#stdout.line()
    if (bytes === undefined || session === undefined || !/^\d+$/u.test(session)) throw lost()
    const lists = this.#isText ? Buffer.from(bytes.toString('latin1'), 'base64') : bytes
    const [old, fresh] = [lists.subarray(0, Number(gone)), lists.subarray(Number(gone))]
    return { changes: { gone: readRecords(old), fresh: readRecords(fresh), digests: new Map() }, session }
  }

  /** The changes that the message `end` announces, and the contents of changed files. */
  async ended(fields: readonly string[]): Promise<{ changes: Changes; contents: AsyncIterable<Content> }> {
    const [gone = 0, fresh = 0, sums = 0] = fields.slice(3, 6).map(Number)
    const rest = this.#stdout.rest()
    const reader = this.#isText ? new Reader(decodeBase64(rest)) : new Reader(rest)
    const lists = await reader.take(gone + fresh + sums)
    // a process that the command left behind can write into these bytes
    if (lists === undefined || digestOf(lists) !== fields[6]) throw lost() // @defence output of another process between the lists: lists that are damaged
    const changes = {
      gone: readRecords(lists.subarray(0, gone)),
      fresh: readRecords(lists.subarray(gone, gone + fresh)),
      digests: readDigests(lists.subarray(gone + fresh)),
    }
    return { changes, contents: readArchive(reader.rest(), new Set(changes.digests.keys())) }
  }

  async kill(): Promise<void> {
    await this.process.kill().catch(() => undefined) // a process that has ended needs no signal
  }
}

export const lost = (native?: unknown) => failure('stopped answering', native)

/** The error for a message that refuses an order. */
export function refusal([word, ...rest]: readonly string[]) {
  if (word === 'fail' && rest[0] === 'directory')
    return execError('ENOEXEC', 'the working directory cannot be entered on the machine', {
      remedy: 'let its owner enter it (`chmod u+x`), or start in another directory',
    })
  if (word !== 'fail') return word === 'moved' ? failure('has another directory at the workspace’s place') : lost()
  return failure(`could not exchange files: ${rest.join(' ').trim()}`)
}
