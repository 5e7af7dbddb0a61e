// Runs in a container: opens a workspace with each executor that runs processes, and prints as JSON what became of it.
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import type { Executor, Guarantees } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'

/** The findings for one executor. */
export interface Finding {
  readonly name: string
  readonly available: boolean
  readonly missing: readonly string[]
  readonly howToFix: readonly string[]
  readonly guarantees: Guarantees
  /** Output of the command; absent where it was refused. */
  readonly output?: string
  /** The code and text of the refusal. */
  readonly refusal?: { readonly code: string; readonly message: string }
  /** An error that is not ours: never right. */
  readonly unexpected?: string
}

const [directory = '', uid = '', gid = ''] = process.argv.slice(2)
const owner = { uid: Number(uid), gid: Number(gid) }

async function tryOut(executor: Executor): Promise<Finding> {
  const { available, missing, howToFix, guarantees } = await executor.probe({ root: '/workspace' as never, owner })
  const found = { name: executor.name, available, missing, howToFix, guarantees }
  try {
    await using workspace = await createWorkspace({
      mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: directory, owner }) }],
      executors: [executor],
    })
    await workspace.write('/workspace/file', 'content\n')
    const result = await workspace.exec('cat file; id -u; echo made > made', { login: false, shell: 'sh' })
    return { ...found, output: result.stdout + (await workspace.readText('/workspace/made')) + result.stderr }
  } catch (error) {
    if (isWorkspaceError(error)) return { ...found, refusal: { code: error.code, message: error.message } }
    return { ...found, unexpected: error instanceof Error ? `${error.stack}` : String(error) }
  }
}

const findings: Finding[] = []
for (const executor of [
  createBubblewrapExecutor(),
  createProotExecutor(),
  createSanitizeExecutor({ trustPrograms: ['id'] }),
]) {
  try {
    findings.push(await tryOut(executor))
  } catch (error) {
    const unexpected = error instanceof Error ? `${error.stack}` : String(error)
    const nothing = { available: false, missing: [], howToFix: [], guarantees: {} as Guarantees }
    findings.push({ name: executor.name, ...nothing, unexpected })
  }
}
console.log(JSON.stringify(findings))
