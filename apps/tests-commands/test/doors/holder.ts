// Holds a workspace, runs one command in it and passes its output on, until it is killed.
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { ordinaryOwner } from '@ws/test-fixtures'
import { doors } from './site.ts'

const [name, root = '', command = ''] = process.argv.slice(2)
const door = doors.find((candidate) => candidate.name === name)
if (door === undefined) throw new Error(`there is no door ${String(name)}`)
const workspace = await createWorkspace({
  mounts: [{ at: door.root, adapter: () => createLocalAdapter({ root, owner: ordinaryOwner() }) }],
  executors: [door.create()],
})
const running = await workspace.spawn(command, { login: false, shell: 'bash' })
for await (const chunk of running.stdout) process.stdout.write(chunk)
await running.wait()
