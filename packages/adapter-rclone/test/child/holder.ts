// Mounts by the options on standard input, writes what it is told, says so, and waits to be killed.
import { text } from 'node:stream/consumers'

import { parseMountPath } from '@ws/core'

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
process.stdout.write('done\n')
setInterval(() => undefined, 60_000)
