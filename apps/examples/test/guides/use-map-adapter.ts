import { createWorkspace } from '@ws/core'
import { createMapAdapter } from './map-adapter.ts'

const workspace = await createWorkspace({ mounts: [{ at: '/workspace', adapter: createMapAdapter }] })
await workspace.write('notes/a.md', 'one\n')
await workspace.move('notes', 'archive')
for await (const { path } of workspace.list('.', { recursive: true })) console.log(path) // /workspace/archive, then /workspace/archive/a.md
await workspace.close()
