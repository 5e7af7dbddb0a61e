// A server as an attack finds it: `node victim.ts http|stdio ROOT virtual|bubblewrap`. Over HTTP it prints its address, and ends with its
// standard input. SIGUSR2 makes it say on standard error how many milliseconds
// its longest turn took since the last time.
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { serveHttp, serveStdio } from '@ws/mcp-server'
import { watchTurns } from '@ws/test-fixtures/turns'

const [way, root = '', executor, measured] = process.argv.slice(2)
await using workspace = await createWorkspace({
  mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root }) }],
  executors: [executor === 'bubblewrap' ? createBubblewrapExecutor() : createVirtualExecutor()],
})
// It looks in each turn, so it keeps a processor busy.
let turns = measured ? watchTurns() : undefined
process.on('SIGUSR2', () => {
  process.stderr.write(`longest turn: ${turns?.longest()} ms\n`)
  turns?.stop()
  turns = watchTurns()
})
const options = { tools: { face: 'split' as const, downloads: false as const }, commands: {} }
if (way === 'stdio') {
  await using server = await serveStdio({ workspace }, options)
  await server.closed
  turns?.stop()
} else {
  const open = async () => ({ workspace, close: async () => undefined })
  await using server = await serveHttp({ ...options, open })
  process.stdout.write(`${server.url.href}\n`)
  process.stdin.resume()
  await new Promise((resolve) => process.stdin.once('end', resolve))
  turns?.stop()
}
