/** Works durably under strace, and marks each step by a directory that it tries to enter. */
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'

const [root = ''] = process.argv.slice(2)

function mark(step: string): void {
  try {
    process.chdir(`/step-${step}`)
  } catch {
    // The directory is not there: its name in the trace is all that is wanted.
  }
}

const workspace = await createWorkspace({
  mounts: [{ at: '/', adapter: () => createLocalAdapter({ root }) }],
  executors: [createVirtualExecutor()],
})
await workspace.exec('true') // what a first command prepares is not counted
mark('plain')
await workspace.write('/plain.txt', 'x')
mark('durable')
await workspace.write('/a/b/durable.txt', 'x', { durable: true })
mark('flush')
await workspace.flush()
mark('command')
await workspace.exec('echo x > /by-command.txt', { durable: true })
mark('close')
await workspace.close()
