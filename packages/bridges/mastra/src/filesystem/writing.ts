import { DirectoryNotFoundError, FileExistsError, StaleFileError } from '@mastra/core/workspace'
import type { FileContent, WriteOptions } from '@mastra/core/workspace'
import { isWorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { ifThere } from '@ws/tools/bridge'

import { inMastraWords } from './errors.ts'
import { timeOf } from './seen.ts'
import type { SeenVersions } from './seen.ts'

/** Writes a file if its version is the version that was reported with `expectedMtime`, else throws `StaleFileError`. */
export function writeFile(
  workspace: Workspace,
  seen: SeenVersions,
  path: string,
  content: FileContent,
  { recursive = true, overwrite = true, expectedMtime }: WriteOptions = {},
): Promise<void> {
  return inMastraWords({ operation: 'writeFile', path }, async () => {
    const expected =
      expectedMtime === undefined ? undefined : await expectedVersion(workspace, seen, path, expectedMtime)
    const ifVersion = overwrite ? expected : 'absent'
    try {
      await workspace.write(path, content, { parents: recursive, ifVersion })
    } catch (error) {
      if (isWorkspaceError(error, 'ENOENT')) throw new DirectoryNotFoundError(parentOf(path))
      if (!isWorkspaceError(error, 'ECONFLICT')) throw error
      if (!overwrite) throw new FileExistsError(path)
      throw await staleError(workspace, path, expectedMtime ?? new Date(0))
    }
  })
}

export function appendFile(workspace: Workspace, path: string, content: FileContent): Promise<void> {
  return inMastraWords({ operation: 'appendFile', path }, async () => {
    await workspace.append(path, content)
  })
}

/** The version that was reported with a time; `absent` for a missing file, which is written in any case. */
async function expectedVersion(
  workspace: Workspace,
  seen: SeenVersions,
  path: string,
  expectedMtime: Date,
): Promise<string> {
  const real = await ifThere(workspace.realPath(path))
  if (real === undefined) return 'absent'
  const stat = await workspace.stat(real)
  if (timeOf(stat.modifiedAt) !== expectedMtime.getTime()) {
    throw new StaleFileError(path, expectedMtime, new Date(timeOf(stat.modifiedAt)))
  }
  return seen.at(real, expectedMtime) ?? stat.version
}

async function staleError(workspace: Workspace, path: string, expected: Date): Promise<StaleFileError> {
  const found = await ifThere(workspace.stat(path, { followLinks: true }))
  return new StaleFileError(path, expected, new Date(timeOf(found?.modifiedAt)))
}

function parentOf(path: string): string {
  const slash = path.replace(/(?<!\/)\/+$/u, '').lastIndexOf('/')
  return slash < 0 ? '.' : slash === 0 ? '/' : path.slice(0, slash)
}
