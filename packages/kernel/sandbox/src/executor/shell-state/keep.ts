import { randomBytes } from 'node:crypto'

import type { CommandOutputs } from '../../run/command-output.ts'
import { beginning } from '../../terminal/marks.ts'
import type { DriverRequest } from '../driver.ts'
import { mostState, readReport, stateCode } from './read.ts'
import { stateScript } from './script.ts'

export interface KeptShell {
  readonly inState: NonNullable<DriverRequest['inState']>
  /** The outputs of the command, without the shell's reports. */
  readonly output: CommandOutputs
}

/** Keeps the state of a command's shell, which reports it on standard output between two marks. */
export function keepShell(data: string, output: CommandOutputs): KeptShell {
  const id = randomBytes(16).toString('hex')
  const mark = { first: `ws-${id.slice(0, 16)}`, second: id.slice(16) }
  const reports = createReports(Buffer.from(mark.first + mark.second))
  return {
    inState: (line, shell, keeps) =>
      stateScript(line, shell, { mark, state: stateCode(data, keeps), isCounted: keeps === undefined }),
    output: {
      ...output,
      onStdout: (chunk) => output.onStdout(reports.push(chunk)),
      end() {
        void output.onStdout(reports.end())
        return output.end()
      },
      shellState() {
        const [before, ...others] = reports.all
        const after = others.at(-1)
        return before === undefined || after === undefined ? undefined : readReport(before, after, mark)
      },
    },
  }
}

/** Takes the texts between two marks out of a stream. Keeps the first bytes of each, and the first and the last two texts. */
function createReports(mark: Buffer) {
  const all: string[] = []
  let waiting: Buffer = Buffer.alloc(0)
  let inside: Buffer[] | undefined
  let room = 0
  return {
    all,
    push(chunk: Uint8Array): Uint8Array {
      const outside: Buffer[] = []
      const take = (part: Buffer): void => {
        if (inside === undefined) outside.push(part)
        else inside.push(Buffer.from(part.subarray(0, room)))
        room -= Math.min(room, part.length)
      }
      let bytes = Buffer.concat([waiting, chunk])
      for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark)) {
        take(bytes.subarray(0, at))
        if (inside !== undefined) all[Math.min(1, all.length)] = Buffer.concat(inside).toString('latin1')
        inside = inside === undefined ? [] : undefined
        room = 2 * mostState
        bytes = bytes.subarray(at + mark.length)
      }
      const keep = beginning(bytes, mark)
      take(bytes.subarray(0, bytes.length - keep))
      waiting = bytes.subarray(bytes.length - keep)
      return Buffer.concat(outside)
    },
    end(): Uint8Array {
      const rest = inside === undefined ? waiting : Buffer.alloc(0)
      waiting = Buffer.alloc(0)
      return rest
    },
  }
}
