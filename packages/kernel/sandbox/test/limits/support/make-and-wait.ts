/** Started by a test to be killed: makes a group, puts a process into it, says so, and waits. */
import { spawn } from 'node:child_process'

import { openCgroup } from '../../../src/limits/cgroup/delegated.ts'

const group = openCgroup(process.argv[2] ?? '', { controllers: [] }).make({}, { ownProcesses: 0 })
const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore', detached: true })
if (child.pid !== undefined) group.join(child.pid)
process.stdout.write(`${child.pid}\n`)
setInterval(() => undefined, 1000)
