import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

import type { SharedLoopback } from '@ws/core/executor'
import { publishPort } from '@ws/sandbox'

import type { Container } from '../container.ts'
import type { Pool } from '../pool.ts'

const connectScript = readFileSync(new URL('connect.pl', import.meta.url), 'utf8')
const portsScript = readFileSync(new URL('ports.pl', import.meta.url), 'utf8')
const lowestPort = 1024

/** The loopback of the containers of a workspace: commands of one container share it. No network is needed to reach it from here. */
export function loopbackOf(pool: Pool): SharedLoopback {
  return {
    async ports() {
      const found = await Promise.all(pool.running.map(listeningPorts))
      return [...new Set(found.flat())].sort((one, other) => one - other)
    },
    publish: (port, wanted) => publishPort(wanted, (outer) => connect(outer, port, pool)),
  }
}

async function listeningPorts({ attendant }: Container): Promise<number[]> {
  let text = ''
  const onStdout = (chunk: Uint8Array) => void (text += Buffer.from(chunk).toString('latin1'))
  const command = attendant.start({ argv: ['perl', '-e', portsScript] }, { onStdout, onStderr: () => undefined })
  await command.gone
  return text
    .split('\n')
    .map(Number)
    .filter((port) => port >= lowestPort)
}

/** Joins a connection with the container that listens on the port. Rejects where none does. */
async function connect(outer: Socket, port: number, pool: Pool): Promise<void> {
  for (const container of pool.running) {
    if (!(await listeningPorts(container)).includes(port)) continue
    if (outer.destroyed) return // no event would end its command
    const onStdout = (chunk: Uint8Array) => {
      if (outer.destroyed || outer.write(Buffer.from(chunk))) return
      return new Promise<void>((resolve) => void outer.once('drain', resolve).once('close', resolve))
    }
    const order = { argv: ['perl', '-e', connectScript, String(port)], hasInput: true }
    const command = container.attendant.start(order, { onStdout, onStderr: () => undefined })
    if (command.stdin !== undefined) outer.pipe(command.stdin)
    outer.once('close', () => command.end())
    const end = await command.exited.catch(() => ({ status: 1 }))
    command.end()
    await command.gone
    if (end.status === 0) outer.end()
    else outer.resetAndDestroy()
    return
  }
  throw new Error('nothing listens')
}
