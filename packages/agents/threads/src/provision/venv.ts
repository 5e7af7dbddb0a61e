import { isWorkspaceError, paths, type Workspace } from '@ws/core'

const venvTimeout = 300_000

interface VenvOptions {
  readonly links: boolean
  readonly pip: boolean
  readonly signal: AbortSignal | undefined
}

/** Makes the Python environment, or returns the reason for its absence. On a bucket, without pip: an upload of pip's 900 files is slow. */
export async function makeVenv(
  workspace: Workspace,
  { links, pip, signal }: VenvOptions,
): Promise<'kept' | { reason: string } | 'made'> {
  const venv = paths.join(workspace.root, paths.parseMount('.venv'))
  // This file exists only during the creation of the environment, so an unfinished environment is made again.
  const begun = `${venv}/.ws-begun`
  const half = await workspace.exists(begun)
  if (!half && (await workspace.exists(`${venv}/pyvenv.cfg`))) return 'kept'
  if (!half && (await workspace.exists(venv)) && (await Array.fromAsync(workspace.list(venv))).length > 0) return 'kept'
  if (half) await workspace.delete(venv, { recursive: true })
  try {
    const { exitCode } = await workspace.exec('command -v python3', { signal, login: false })
    if (exitCode !== 0) return { reason: 'was left out: the commands have no `python3`' }
    await workspace.write(begun, '')
    // on 64 bits, venv links `lib64` to `lib`, unless `lib64` exists
    if (!links) await workspace.createDirectory(`${venv}/lib64`)
    const how = [...(links ? [] : ['--copies']), ...(pip ? [] : ['--without-pip'])]
    const command = ['python3', '-m', 'venv', ...how, venv]
    const result = await workspace.exec(command, { signal, login: false, timeout: venvTimeout })
    if (result.exitCode === 0) {
      await workspace.delete(begun)
      return 'made'
    }
    await workspace.delete(venv, { recursive: true, force: true })
    return { reason: `was left out: \`python3 -m venv\` failed: ${lastLine(result.stderr || result.stdout)}` }
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    await workspace.delete(venv, { recursive: true, force: true }).catch(() => undefined) // the first failure is reported
    return { reason: `was left out: ${error.reason}` }
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
}
