import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, isWorkspaceError, rules } from '@ws/core'

import { createBubblewrapExecutor } from '../../src/index.ts'
import { formOf, type Mode } from './workbench.ts'

// Runs one command again and again, several at once, and prints what each of them printed.
const [root = '', at = '', protectedNames = '', command = '', count = '', parallel = '1', form = 'below'] =
  process.argv.slice(2)
const workspace = await createWorkspace({
  mounts: [{ at, adapter: await createLocalAdapter({ root }) }],
  rules: (JSON.parse(protectedNames) as [kind: 'deny' | 'readOnly', path: string][]).map(([kind, path]) =>
    rules[kind](path),
  ),
  executors: [createBubblewrapExecutor(formOf(form as Mode))],
})
let left = Number(count)
const lane = async () => {
  while (left-- > 0) {
    try {
      const { stdout } = await workspace.exec(command, { login: false, shell: '/bin/sh' })
      process.stdout.write(`ran ${stdout.trim()}\n`)
    } catch (error) {
      process.stdout.write(`failed ${isWorkspaceError(error) ? error.message : String(error)}\n`)
    }
  }
}
process.stdout.write('ready\n')
await Promise.all(Array.from({ length: Number(parallel) }, lane))
await workspace.close()
