import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

import { describe, expect, it, onTestFinished } from 'vitest'

import { dial } from '../src/dial.ts'

const origin = async (host: string) => {
  const connections: string[] = []
  const server = createServer((socket) => {
    connections.push(socket.localAddress ?? '')
    socket.end('hello')
  })
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { connections, port: (server.address() as AddressInfo).port }
}
const signal = new AbortController().signal

describe('dialling', () => {
  it('[NW3] asks once and goes to the address that was checked, whatever the name says later', async () => {
    const { port, connections } = await origin('127.0.0.3')
    const answers = [['127.0.0.3'], ['127.0.0.1']]
    const dialled = await dial('rebind.test', port, {
      resolve: async () => answers.shift() ?? [],
      permits: (address) => address === '127.0.0.3',
      signal,
    })
    if ('problem' in dialled) throw new Error(dialled.problem)
    const [data] = (await once(dialled.socket, 'data')) as [Buffer]
    dialled.socket.destroy()
    expect(String(data)).toBe('hello')
    expect(connections).toEqual(['127.0.0.3'])
    expect(answers).toHaveLength(1)
  })

  it.each([[['127.0.0.1']], [['1.1.1.1', '127.0.0.1']], [['::ffff:127.0.0.1']], [['169.254.169.254']], [['0.0.0.0']]])(
    '[NW3] dials nothing where the addresses are %j',
    async (addresses) => {
      const { port, connections } = await origin('127.0.0.1')
      const dialled = await dial('odd.test', port, { resolve: async () => addresses, permits: () => false, signal })
      expect(dialled).toEqual({ problem: 'private' })
      expect(connections).toEqual([])
    },
  )

  it('says that a name is unknown, of Tor, or not reachable', async () => {
    const check = { permits: () => true, signal }
    const unknown = async () => {
      throw new Error('ENOTFOUND')
    }
    expect(await dial('a.test', 1, { ...check, resolve: unknown })).toEqual({ problem: 'unknown' })
    expect(await dial('a.test', 1, { ...check, resolve: async () => [] })).toEqual({ problem: 'unknown' })
    expect(await dial('a.onion', 1, { ...check, resolve: unknown })).toEqual({ problem: 'onion' })
    expect(await dial('a.test', 1, { ...check, resolve: async () => ['127.0.0.1'] })).toEqual({
      problem: 'unreachable',
    })
  })
})
