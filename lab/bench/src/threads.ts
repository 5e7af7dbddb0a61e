import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, paths, prefix, readOnly } from '@ws/core'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { createThreads, type Thread, type Threads } from '@ws/threads'

import { compare, type Measurement, own, repeat, type Report, summary } from './measure.ts'
import { held } from './memory.ts'

const idleCount = 1_000

/** Measures opening an existing thread against opening its workspace, and the memory of an open thread. */
export async function measureThreads(report: Report): Promise<void> {
  await using scratch = await createScratchDirectory({ owner: ordinaryOwner() })
  process.env['XDG_STATE_HOME'] = await scratch.createDirectory('state')
  const store = await createLocalAdapter({ root: await scratch.createDirectory('store') })
  await using threads = await createThreads({ store, idleTimeout: 0, maxOpen: idleCount + 1 })
  for (const path of ['/skills/system', '/skills/u'])
    await store.createDirectory(paths.parseMount(path), { recursive: true })
  await (await threads.open({ threadId: 't0', userId: 'u' })).close()
  const shared = { shared: true } as const
  const openPlain = () =>
    createWorkspace({
      mounts: [
        { at: '/', adapter: () => prefix(store, 'threads/t0', shared) },
        { at: '/.solven/skills/system', adapter: () => readOnly(prefix(store, 'skills/system', shared), shared) },
        { at: '/.solven/skills/u', adapter: () => readOnly(prefix(store, 'skills/u', shared), shared) },
      ],
    })
  report(
    await compare('threads', {
      name: 'open and close a thread that exists',
      reference: { name: 'its plain workspace', run: repeat(async () => (await openPlain()).close()) },
      ways: [{ name: own, run: repeat(async () => (await threads.open({ threadId: 't0', userId: 'u' })).close()) }],
      count: 50,
    }),
  )
  report(await measureIdle(threads))
  await store.close()
}

async function measureIdle(threads: Threads): Promise<Measurement> {
  const open = (index: number): Promise<Thread> => threads.open({ threadId: `t${index}`, userId: 'u' })
  for (let index = 1; index <= 50; index += 1) await (await open(index)).close()
  const opened: Thread[] = []
  const before = held()
  for (let index = 1; index <= idleCount; index += 1) opened.push(await open(index))
  const kilobytes = (held() - before) / idleCount / 1_024
  for (const thread of opened) await thread.close()
  const figures = [{ ...summary(own, [kilobytes]), samples: idleCount }]
  return { section: 'threads', name: `${idleCount} idle threads, each`, against: 'KB', figures }
}
