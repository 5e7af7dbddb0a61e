import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

import { asOwner } from '@ws/test-fixtures'

import { Attendant, type AttendantCommand, type AttendantOrder } from '../../src/attendant/client.ts'
import { attendantArguments } from '../../src/attendant/script.ts'
import type { AttendantStream } from '../../src/attendant/stream.ts'

export interface LocalAttendant extends AsyncDisposable {
  readonly attendant: Attendant
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  /** Bytes that this process has written to the attendant, write by write. */
  readonly writes: number[]
}

/** An attendant as a child of this process, as an ordinary user. */
export function openLocal(isText = false): LocalAttendant {
  const [program = '', ...rest] = attendantArguments(...(isText ? (['base64'] as const) : []))
  const child = spawn(program, rest, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: '/usr/bin:/bin', KEPT: 'kept' },
    cwd: '/',
    ...asOwner(),
  })
  const writes: number[] = []
  const stream = streamOf(child, writes)
  const attendant = new Attendant(stream, { isText })
  return {
    attendant,
    child,
    writes,
    async [Symbol.asyncDispose]() {
      attendant.close()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

function streamOf(child: ChildProcessByStdio<Writable, Readable, null>, writes: number[]): AttendantStream {
  child.stdin.on('error', () => undefined) // the end of its output is reported instead
  return {
    async write(bytes) {
      writes.push(bytes.length)
      if (!child.stdin.write(bytes)) await once(child.stdin, 'drain')
    },
    end: () => child.stdin.end(),
    output: child.stdout,
  }
}

export interface Ran {
  readonly command: AttendantCommand
  readonly stdout: () => string
  readonly stderr: () => string
  /** The end, once the rest of the command was killed and nothing of it is left. */
  readonly result: Promise<{
    readonly status?: number
    readonly signal?: string
    readonly lost?: boolean
    readonly survivors: boolean
  }>
}

/** Runs `sh -c script`, and collects its output. @param keepsRest processes that the command leaves go on */
export function run(
  attendant: Attendant,
  script: string,
  { keepsRest = false, ...order }: Partial<AttendantOrder> & { readonly keepsRest?: boolean } = {},
): Ran {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  const command = attendant.start(
    { argv: ['sh', '-c', script], ...order },
    {
      onStdout: (chunk) => void stdout.push(Buffer.from(chunk)),
      onStderr: (chunk) => void stderr.push(Buffer.from(chunk)),
    },
  )
  const end = async () => {
    const ended = await command.exited
    if (!keepsRest) command.end()
    return { ...ended, ...(await command.gone) }
  }
  const result = end() as Ran['result']
  result.catch(() => undefined) // tests that look at the failure get it
  return {
    command,
    stdout: () => Buffer.concat(stdout).toString(),
    stderr: () => Buffer.concat(stderr).toString(),
    result,
  }
}
