import { Attendant, type AttendantCommand } from '../attendant/client.ts'
import { attendantArguments } from '../attendant/script.ts'
import type { Machine, MachineProcess, MachineStart } from '../contract.ts'
import { failure } from './listing.ts'
import { Pipe } from '../pipe.ts'

/**
 * The same machine, whose programs are started by one process that waits there: a start is one round trip, and a file is on its way
 * together with the program that needs it.
 */
export class AttendedMachine implements Machine {
  readonly name: string
  readonly hasInput = true
  readonly #machine: Machine
  readonly #isText: boolean
  #attendant: Promise<Attendant | undefined>
  /** The number of the last file's program, which the next program waits for. */
  #file: number | undefined

  private constructor(machine: Machine, isText: boolean, attendant: Attendant) {
    this.name = machine.name
    this.#machine = machine
    this.#isText = isText
    this.#attendant = Promise.resolve(attendant)
  }

  /** Returns `undefined` for a machine that cannot have such a process. */
  static async open(machine: Machine, isText: boolean): Promise<AttendedMachine | undefined> {
    const attendant = await openAttendant(machine, isText).catch(() => undefined) // a machine may refuse input
    return attendant && new AttendedMachine(machine, isText, attendant)
  }

  async start(argv: readonly string[], options: MachineStart = {}): Promise<MachineProcess> {
    const attendant = await this.#attend()
    const { cwd, env, hasInput = false } = options
    const [stdout, stderr] = [new Pipe(), new Pipe()]
    const listeners = { onStdout: stdout.listen, onStderr: stderr.listen }
    const after = this.#file
    this.#file = undefined
    const command = attendant.start({ argv, cwd, env, hasInput, after }, listeners)
    void command.gone.then(() => [stdout, stderr].forEach((pipe) => pipe.end()))
    await command.begun
    return processOf(command, stdout, stderr)
  }

  async put(content: AsyncIterable<Uint8Array>, target: Parameters<Machine['put']>[1]): Promise<void> {
    const attendant = await this.#attend()
    const { path, signal } = target
    const argv = ['sh', '-c', 'cat >"$1"', 'sh', path]
    const nothing = () => undefined
    const command = attendant.start({ argv, hasInput: true }, { onStdout: nothing, onStderr: nothing })
    const input = inputOf(command)
    try {
      for await (const chunk of content) {
        signal?.throwIfAborted()
        await input.write(chunk)
      }
    } catch (error) {
      command.end()
      throw error
    }
    await input.end()
    this.#file = command.id
  }

  async close(): Promise<void> {
    const attendant = await this.#attendant
    attendant?.close()
  }

  /** The process that waits, or another one if it was lost. */
  async #attend(): Promise<Attendant> {
    const known = await this.#attendant
    if (known?.isLost === false) return known
    this.#file = undefined
    this.#attendant = openAttendant(this.#machine, this.#isText).catch(() => undefined) // the next start tries again
    const attendant = await this.#attendant
    if (attendant === undefined) throw failure('was lost, and starts no program')
    return attendant
  }
}

async function openAttendant(machine: Machine, isText: boolean): Promise<Attendant | undefined> {
  const process = await machine.start(attendantArguments(...(isText ? (['base64'] as const) : [])), { hasInput: true })
  const { stdin, stdout, stderr } = process
  if (stdin !== undefined) {
    const write = (bytes: Uint8Array) => stdin.write(bytes)
    const end = () => void stdin.end().catch(() => undefined) // it has ended
    const attendant = new Attendant({ write, end, output: stdout }, { isText })
    void drain(stderr)
    try {
      await attendant.greeted
      return attendant
    } catch {
      attendant.close() // this perl cannot run it
    }
  }
  await process.kill()
  return undefined
}

function processOf(command: AttendantCommand, stdout: Pipe, stderr: Pipe): MachineProcess {
  return {
    stdout,
    stderr,
    ...(command.stdin !== undefined && { stdin: inputOf(command) }),
    kill: async () => command.end(),
    async wait() {
      const { status, signal, lost } = await command.exited
      if (lost === true) throw failure('was lost')
      return status ?? (signal === undefined ? 1 : 137)
    },
  }
}

function inputOf({ stdin }: AttendantCommand) {
  return {
    write: (bytes: Uint8Array): Promise<void> =>
      new Promise((resolve, reject) => {
        if (stdin === undefined || stdin.destroyed) return reject(new Error('the program reads no more'))
        return stdin.write(bytes, (error) => (error ? reject(error) : resolve()))
      }),
    end: async (): Promise<void> => void stdin?.end(),
  }
}

/** The attendant writes there only if perl fails, and then its end says so. Never rejects. */
async function drain(stderr: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _chunk of stderr);
  } catch {
    // lost
  }
}
