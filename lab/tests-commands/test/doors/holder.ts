// Holds a workspace, runs one command in it and passes its output on, until it is killed.
import { openHeld } from './held.ts'

const [name, root = '', command = ''] = process.argv.slice(2)
const workspace = await openHeld(name, root)
const running = await workspace.spawn(command, { login: false, shell: 'bash' })
for await (const chunk of running.stdout) process.stdout.write(chunk)
await running.wait()
