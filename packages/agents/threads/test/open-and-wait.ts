// Opens a thread on the directory that is given, and is killed meanwhile.
import { createLocalAdapter } from '@ws/adapter-local'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { paths } from '@ws/core'
import { createThreads } from '@ws/threads'

const store = await createLocalAdapter({ root: process.argv[2] ?? '' })
await store.write(paths.parseMount('/threads/t1/mine.txt'), Buffer.from('mine\n'), { parents: true })
const threads = await createThreads({
  store,
  executors: [createBubblewrapExecutor()],
  onProvision: (event) => {
    if (event.state === 'started' && event.part === '.venv') console.log('started')
  },
})
await threads.open({ threadId: 't1', userId: 'u1' })
setInterval(() => undefined, 1000)
