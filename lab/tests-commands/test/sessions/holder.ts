// Holds a workspace with a session in it, says when the session is up, and waits until it is killed.
import { openHeld } from '../doors/held.ts'

const [name, root = '', command = ''] = process.argv.slice(2)
const workspace = await openHeld(name, root)
const session = await workspace.openSession({ shell: 'bash', login: false })
await session.write(`${command}\r`)
await new Promise<void>((resolve) => {
  session.onData(() => session.read({ since: 0 }).text.includes('is-ready\r\n') && resolve())
})
process.stdout.write('ready\n')
await session.wait()
