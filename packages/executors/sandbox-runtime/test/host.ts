// A host program in the directory of its workspace: runs a command, and prints the result.
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { createSandboxRuntimeExecutor } from '@ws/executor-sandbox-runtime'
import { ordinaryOwner } from '@ws/test-fixtures'

const root = process.cwd()
const adapter = () => createLocalAdapter({ root, owner: ordinaryOwner() })
const workspace = await createWorkspace({
  mounts: [{ at: root, adapter }],
  executors: [createSandboxRuntimeExecutor()],
})
const { output } = await workspace.exec(process.argv[2] ?? 'true', { shell: 'sh', login: false })
console.log(output)
await workspace.close()
