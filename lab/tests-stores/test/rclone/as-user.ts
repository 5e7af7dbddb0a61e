// As an ordinary user, with a mount of its own: writes by the API, runs a command in each executor, and prints the
// results.
import { text } from 'node:stream/consumers'
import { type RcloneAdapterOptions, createRcloneAdapter } from '@ws/adapter-rclone'
import { createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'

const options = JSON.parse(await text(process.stdin)) as RcloneAdapterOptions
const outputs: string[] = []
await using adapter = await createRcloneAdapter(options)
for (const [name, executor] of [
  ['bubblewrap', createBubblewrapExecutor()],
  ['proot', createProotExecutor()],
] as const) {
  await using workspace = await createWorkspace({ mounts: [{ at: '/workspace', adapter }], executors: [executor] })
  await workspace.write(`/workspace/${name}/api.txt`, `by the API for ${name}`, { parents: true })
  const command = `cat api.txt; echo; id -u; echo "by a command in ${name}" > command.txt`
  const { stdout, stderr } = await workspace.exec(command, { cwd: `/workspace/${name}`, timeout: 60_000 })
  outputs.push(stdout + stderr)
}
await adapter.flush()
console.log(JSON.stringify({ uid: process.getuid?.(), outputs }))
