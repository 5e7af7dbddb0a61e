import { closeSync, openSync, readFileSync } from 'node:fs'

import type { PipePair } from './pipe-maker.ts'
import { startPerlHelper } from './perl-helper.ts'
import { isShort } from './room.ts'

export interface PipeHelper {
  /** Makes pipes, one request at a time. `undefined`: no pipes can be made. @throws the system's error if no descriptors are left */
  make(count: number): Promise<readonly PipePair[] | undefined>
  /** Keeps this process alive during a request, since a caller awaits the pipes. */
  hold(): void
  end(): void
}

export function startPipeHelper(): PipeHelper {
  const script = readFileSync(new URL('pipes.pl', import.meta.url), 'utf8')
  const { child, hold, release } = startPerlHelper(script)
  const { stdin, stdout } = child
  let answered: ((answer: string) => void) | undefined
  let text = ''
  let gone = false
  const end = () => {
    gone = true
    answered?.('')
  }
  child.on('error', end)
  child.on('exit', end)
  stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    if (text.endsWith('\n')) answered?.(text)
  })
  return {
    async make(count) {
      const answer = await new Promise<string>((resolve) => {
        if (gone) return resolve('')
        answered = resolve
        text = ''
        stdin.write(`${count}\n`)
      })
      answered = undefined
      release()
      try {
        return openPipes(child.pid, answer)
      } finally {
        if (!gone) stdin.write('0\n')
      }
    },
    hold,
    end: () => void stdin.end(),
  }
}

/** `answer`: two descriptor numbers in the helper process for each pipe. */
function openPipes(pid: number | undefined, answer: string): PipePair[] | undefined {
  if (!/^\d+ \d+(?: \d+ \d+)*\n$/.test(answer)) return undefined
  const numbers = answer.trim().split(' ')
  const opened: number[] = []
  try {
    for (const [index, number] of numbers.entries())
      opened.push(openSync(`/proc/${pid}/fd/${number}`, index % 2 === 0 ? 'r' : 'w'))
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    if (isShort(error)) throw error
    return undefined
  }
  return opened.flatMap((read, index) => (index % 2 === 0 ? [{ read, write: opened[index + 1] ?? -1 }] : []))
}
