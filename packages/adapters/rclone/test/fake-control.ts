import { once } from 'node:events'
import { createServer } from 'node:http'
import { text as readAll } from 'node:stream/consumers'

import { onTestFinished } from 'vitest'

import { Control } from '../src/control/client.ts'

/** A control interface that answers as the test says, and records the requests. */
export async function fakeControl(
  answer: (command: string, body: Record<string, unknown>) => Promise<object> | object,
) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const command = request.url?.slice(1) ?? ''
      const body = JSON.parse(await readAll(request)) as Record<string, unknown>
      asked.push(command)
      response.end(JSON.stringify(await answer(command, body)))
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const control = new Control({ address: `http://127.0.0.1:${port}/`, user: 'u', password: 'p' })
  onTestFinished(() => {
    control.close()
    server.closeAllConnections()
    server.close()
  })
  return { control, asked }
}
