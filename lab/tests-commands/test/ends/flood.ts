// Runs a command that prints so many bytes, and prints by how much this process grew meanwhile, in bytes.
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { ordinaryOwner } from '@ws/test-fixtures'

import { doors } from '../doors/site.ts'

const [name, root = '', bytes = '', how] = process.argv.slice(2)
const door = doors.find((candidate) => candidate.name === name)
if (door === undefined) throw new Error(`there is no door ${String(name)}`)
await using workspace = await createWorkspace({
  mounts: [{ at: door.root, adapter: () => createLocalAdapter({ root, owner: ordinaryOwner() }) }],
  executors: [door.create()],
})
const options = { login: false, shell: 'sh' } as const
// Code that is loaded and compiled once does not count.
await workspace.exec('head -c 20000000 /dev/zero', options)
const idle = process.memoryUsage.rss()
let most = idle
const timer = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss())
}, 5)
const running = await workspace.spawn(`head -c ${bytes} /dev/zero`, options)
let read = 0
// A reader as the command door of an application has one; without it, the capture alone.
if (how === 'read') for await (const chunk of running.stdout) read += chunk.length
const { stdoutBytes } = await running.wait()
clearInterval(timer)
console.log(JSON.stringify({ grown: most - idle, printed: stdoutBytes, read }))
