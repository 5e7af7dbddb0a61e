// Mounts by the options on standard input, writes what it is told, says so, and waits to be killed. SIGUSR2 has a thread
// ask for a file that nobody knows, SIGHUP has it exit.
import { stat } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { parseMountPath } from '@ws/core/adapter'

import { type RcloneAdapterOptions, createRcloneAdapter } from '../../src/index.ts'

interface Task {
  readonly options: RcloneAdapterOptions
  /** Files to write. */
  readonly files: Readonly<Record<string, string>>
}

const { options, files } = JSON.parse(await text(process.stdin)) as Task
const adapter = await createRcloneAdapter(options)
for (const [path, content] of Object.entries(files)) {
  await adapter.write(parseMountPath(path), new TextEncoder().encode(content), { parents: true })
  process.stdout.write(`${path}\n`)
}
process.on('SIGUSR2', () => stat(join(adapter.hostPath(parseMountPath('/')), 'cold/none'), () => undefined))
process.on('SIGHUP', () => process.exit(0))
process.stdout.write('done\n')
setInterval(() => undefined, 60_000)
