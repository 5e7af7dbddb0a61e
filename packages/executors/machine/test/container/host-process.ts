// A host that makes a workspace, starts a command and waits to be killed. Arguments: the engine's address, the image, the directory.
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'

import { createContainerExecutor } from '../../src/container/index.ts'

const [engine = '', image = '', root = '', uid = '', gid = ''] = process.argv.slice(2)
const adapter = await createLocalAdapter({ root, owner: { uid: Number(uid), gid: Number(gid) } })
const executors = [createContainerExecutor({ engine, image })]
const workspace = await createWorkspace({ mounts: [{ at: '/workspace', adapter }], executors })
const running = await workspace.spawn('echo begun; exec sleep 1000', { login: false, shell: 'sh' })
for await (const chunk of running.stdout) process.stdout.write(chunk)
