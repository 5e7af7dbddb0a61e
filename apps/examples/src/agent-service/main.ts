import { createLocalAdapter } from '@ws/adapter-local'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createThreads } from '@ws/threads'

import { createService } from './service.ts'
import { bearerTokens } from './users.ts'

await using store = await createLocalAdapter({ root: process.argv[2] ?? '.' })
const service = createService({
  threads: await createThreads({ store, executors: [createBubblewrapExecutor()] }),
  store,
  authenticate: bearerTokens(JSON.parse(process.env['TOKENS'] ?? '{}') as Record<string, string>),
  audit: (event) => process.stderr.write(`${JSON.stringify(event)}\n`),
})
service.server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  process.stderr.write(`${JSON.stringify(service.server.address())}\n`)
})
// a second signal ends the process immediately
await new Promise<void>((resolve) => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve())
})
await service.close()
