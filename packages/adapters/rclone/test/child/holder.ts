// Mounts by the options on standard input, writes the files it is asked for, reports them, and waits to be killed.
// SIGUSR2 makes a thread ask for a missing file, SIGHUP makes it exit.
import { stat } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { paths } from '@ws/core'

import { type RcloneAdapterOptions, createRcloneAdapter } from '../../src/index.ts'

interface Task {
  readonly options: RcloneAdapterOptions
  /** Files to write. */
  readonly files: Readonly<Record<string, string>>
}

const { options, files } = JSON.parse(await text(process.stdin)) as Task
const adapter = await createRcloneAdapter(options)
for (const [path, content] of Object.entries(files)) {
  await adapter.write(paths.parseMount(path), new TextEncoder().encode(content), { parents: true })
  process.stdout.write(`${path}\n`)
}
process.on('SIGUSR2', () => stat(join(adapter.hostPath(paths.parseMount('/')), 'cold/none'), () => undefined))
process.on('SIGHUP', () => process.exit(0))
process.stdout.write('done\n')
setInterval(() => undefined, 60_000)
