// The thread of the library. The library protects names in the working directory of its process, and keeps one configuration for each
// process. In this thread, the working directory is empty, and the rules of the workspace alone decide.
import { chmodSync, copyFileSync, existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'

import type { WrapOrder, WrapReply, WrapperSetting } from './protocol.ts'

const { platform, directory, bwrapPath, applyPath } = workerData as WrapperSetting
const port = parentPort
if (port === null) throw new Error('this module is a thread')

Object.defineProperty(process, 'platform', { value: platform })
process.cwd = () => directory
let user = process.getuid?.() ?? 0
process.getuid = process.geteuid = () => user

const { SandboxManager } = await import('@anthropic-ai/sandbox-runtime')
// The library's filter against Unix sockets. A copy, since commands may be able to change the directory of the library.
const place = import.meta.resolve('@anthropic-ai/sandbox-runtime')
const filter = fileURLToPath(new URL(`../vendor/seccomp/${process.arch}/apply-seccomp`, place))
const hasFilter = platform === 'linux' && existsSync(filter)
if (hasFilter) {
  copyFileSync(filter, applyPath)
  chmodSync(applyPath, 0o755)
}
// No `initialize`, which starts proxies: commands have no network at all. `true` finds no names in the empty working directory.
SandboxManager.updateConfig({
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: [], denyWrite: [], allowGitConfig: true },
  ripgrep: { command: 'true' },
  bwrapPath,
  ...(hasFilter && { seccomp: { applyPath } }),
})

const literal = (path: string) => ({ path, literal: true }) as const

async function wrap({ id, command, lists, uid }: WrapOrder): Promise<WrapReply> {
  user = uid
  try {
    const { denyRead, allowRead, allowWrite, denyWrite } = lists
    const filesystem = {
      denyRead: denyRead.map(literal),
      allowRead: allowRead.map(literal),
      allowWrite: allowWrite.map(literal),
      denyWrite: denyWrite.map(literal),
    }
    const [shell = '', flag = '', text = ''] = (
      await SandboxManager.wrapWithSandboxArgv(command, '/bin/sh', { filesystem })
    ).argv
    // Without `exec`, a shell would remain between this process and bubblewrap, which ends with its parent.
    return { id, argv: [shell, flag, `exec ${text}`] }
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) }
  }
}

let last: Promise<unknown> = Promise.resolve()
port.on('message', (order: WrapOrder | 'ended') => {
  // One at a time: each order sets the user.
  last = last.then(async () => {
    if (order === 'ended') SandboxManager.cleanupAfterCommand()
    else port.postMessage(await wrap(order))
  })
})
port.postMessage('ready')
