import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type FileDoor, isWorkspaceError } from '@ws/core'
import {
  type AttachedExecutor,
  type BindPlan,
  type CommandRequest,
  getNativeCause,
  type HostPath,
  noGuarantees,
  shortages,
} from '@ws/core/executor'

import { removeTree } from '../run/remove-tree.ts'
import { createTemporaryDirectory } from '../run/temporary-directory.ts'
import { attachDriver } from './attach-driver.ts'
import type { ConfinedTarget, ExecutorDriver, Trial } from './driver.ts'

/** The content of the file `probe` in the workspace of a trial. */
const token = 'workspace'

/** @throws a shortage, because a skipped check could select a weaker boundary */
export async function tryOut<Options, Found>(
  driver: ExecutorDriver<Options, Found>,
  target: ConfinedTarget,
  { found, options, command, isRight }: TrialOptions<Options, Found>,
): Promise<Trial> {
  const { name } = driver
  const { root, owner } = target
  const directory = createTemporaryDirectory(`ws-${name}-`)
  let attached: AttachedExecutor | undefined
  try {
    const made = await driver.attach({ ...target, files: noFiles }, found, options)
    attached = attachDriver({ name, guarantees: noGuarantees, owner, driver: made })
    chmodSync(directory, 0o755)
    writeFileSync(join(directory, 'probe'), token, { mode: 0o644 })
    if (process.getuid?.() === 0) chownSync(directory, owner.uid, owner.gid)
    const source = directory as HostPath
    const mount = { kind: 'mount', at: root, type: 'directory', source, access: 'read-write', rules: [] } as const
    const plan: BindPlan = { root, binds: [mount], aliases: [], restrictions: [], renameBorders: [] }
    const running = await attached.spawn({ ...request, command, cwd: root }, plan)
    const { stdout, stderr, exitCode, timedOut } = await running.wait()
    if (exitCode === 0 && isRight(stdout)) return { output: stdout }
    refuseShortage(new Error(stderr))
    return { problem: timedOut ? 'it does not answer' : firstLine(stderr, name) || 'its answer is wrong' }
  } catch (error) {
    refuseShortage(error)
    if (isWorkspaceError(error, 'ENOEXECUTOR')) return { problem: error.reason, remedy: error.remedy }
    const native = getNativeCause(error)
    if (native instanceof Error && native.message !== '') return { problem: firstLine(native.message, name) }
    return { problem: error instanceof Error ? error.message : String(error) }
  } finally {
    await attached?.close()
    removeTree(directory)
  }
}

interface TrialOptions<Options, Found> {
  readonly found: Found
  readonly options: Options
  readonly command: string
  readonly isRight: (output: string) => boolean
}

const request: Omit<CommandRequest, 'command' | 'cwd'> = {
  env: {},
  login: false,
  shell: '/bin/sh',
  timeout: 10_000,
  killGrace: 500,
  maxOutputBytes: 4096,
}

const noFiles = new Proxy({} as FileDoor, {
  get() {
    throw new Error('a trial has no files')
  },
})

function refuseShortage(error: unknown): void {
  if (shortages.of(error) !== undefined) throw error
}

/** Returns the program's own error line, without private paths. */
function firstLine(text: string, name: string): string {
  const lines = text.split('\n')
  const line = lines.find((one) => one.includes(`${name} error`)) ?? lines[0] ?? ''
  return line.replaceAll(/\S*\/ws-[a-z]+-\S*/g, '…')
}
