import { isWorkspaceError, type Workspace } from '@ws/core'

const venv = '/.venv'
/** There while the environment is being made: one that was left half made is made again. */
const begun = `${venv}/.ws-begun`
const venvTimeout = 300_000

/** Makes the Python environment of a thread. Gives the reason when it cannot be made here. */
export async function makeVenv(
  workspace: Workspace,
  signal: AbortSignal | undefined,
): Promise<'kept' | { reason: string } | 'made'> {
  const half = await workspace.exists(begun)
  if (!half && (await workspace.exists(`${venv}/pyvenv.cfg`))) return 'kept'
  if (!half && (await workspace.exists(venv)) && (await Array.fromAsync(workspace.list(venv))).length > 0) return 'kept'
  if (half) await workspace.delete(venv, { recursive: true })
  try {
    const { exitCode } = await workspace.exec('command -v python3', { signal, login: false })
    if (exitCode !== 0) return { reason: 'was left out: the commands have no `python3`' }
    await workspace.write(begun, '')
    const result = await workspace.exec(['python3', '-m', 'venv', venv], { signal, login: false, timeout: venvTimeout })
    if (result.exitCode === 0) {
      await workspace.delete(begun)
      return 'made'
    }
    await workspace.delete(venv, { recursive: true, force: true })
    return { reason: `was left out: \`python3 -m venv\` failed: ${lastLine(result.stderr || result.stdout)}` }
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    await workspace.delete(venv, { recursive: true, force: true }).catch(() => undefined)
    return { reason: `was left out: ${error.reason}` }
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
}
