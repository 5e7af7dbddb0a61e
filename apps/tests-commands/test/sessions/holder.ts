// Holds a workspace with a session in it, says when the session is up, and waits until it is killed.
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { ordinaryOwner } from '@ws/test-fixtures'
import { doors } from '../doors/site.ts'

const [name, root = '', command = ''] = process.argv.slice(2)
const door = doors.find((candidate) => candidate.name === name)
if (door === undefined) throw new Error(`there is no door ${String(name)}`)
const workspace = await createWorkspace({
  mounts: [{ at: door.root, adapter: () => createLocalAdapter({ root, owner: ordinaryOwner() }) }],
  executors: [door.create()],
})
const session = await workspace.openSession({ shell: 'bash', login: false })
await session.write(`${command}\r`)
await new Promise<void>((resolve) => {
  session.onData(() => session.read({ since: 0 }).text.includes('is-ready\r\n') && resolve())
})
process.stdout.write('ready\n')
await session.wait()
