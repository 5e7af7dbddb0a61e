import { isWorkspaceError, type Workspace } from '@ws/core'

export const standardFiles = {
  '.bashrc': [
    '# Read by interactive shells, and by ~/.profile. Yours to change.',
    '# A shell in a shell has inherited both.',
    'case ":$PATH:" in',
    '  *":${HOME%/}/.venv/bin:"*) ;;',
    '  *) if [ -f "${HOME%/}/.venv/bin/activate" ]; then . "${HOME%/}/.venv/bin/activate"; fi ;;',
    'esac',
    'case ":$PATH:" in',
    '  *":${HOME%/}/node_modules/.bin:"*) ;;',
    '  *) PATH="${HOME%/}/node_modules/.bin:$PATH" ;;',
    'esac',
    'export PATH',
    '',
  ].join('\n'),
  '.profile': [
    '# Read by login shells. Yours to change.',
    'if [ -f "${HOME%/}/.bashrc" ]; then . "${HOME%/}/.bashrc"; fi',
    '',
  ].join('\n'),
  'package.json': `${JSON.stringify({ name: 'workspace', private: true, type: 'module' }, undefined, 2)}\n`,
} as const

export async function writeOnce(workspace: Workspace, path: string, content: string | Uint8Array): Promise<boolean> {
  try {
    await workspace.write(path, content, { ifVersion: 'absent' })
  } catch (error) {
    if (isWorkspaceError(error, 'ECONFLICT')) return false
    if (!isWorkspaceError(error, 'ENOTSUP')) throw error
    // the store checks no condition, so check just before the write
    if (await workspace.exists(path)) return false
    await workspace.write(path, content)
  }
  return true
}
