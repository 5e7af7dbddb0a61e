import { isWorkspaceError } from '@ws/core'
import type { ErrorCode, Workspace } from '@ws/core'
import type { BackendProtocolV2, FileOperationError } from 'deepagents'

type Transfers = Pick<Required<BackendProtocolV2>, 'uploadFiles' | 'downloadFiles'>

/** The protocol's own codes; all other errors become `invalid_path`. */
const words: Readonly<Partial<Record<ErrorCode, FileOperationError>>> = {
  ENOENT: 'file_not_found',
  ENOTDIR: 'file_not_found',
  EISDIR: 'is_directory',
  EACCES: 'permission_denied',
  EROFS: 'permission_denied',
  EBUSY: 'permission_denied',
}

export function createTransfers(workspace: Workspace): Transfers {
  return {
    uploadFiles: (files) =>
      Promise.all(
        files.map(async ([path, content]) => {
          try {
            await workspace.write(path, content)
            return { path, error: null }
          } catch (error) {
            return { path, error: errorOf(error) }
          }
        }),
      ),
    downloadFiles: (paths) =>
      Promise.all(
        paths.map(async (path) => {
          try {
            return { path, content: (await workspace.read(path)).bytes, error: null }
          } catch (error) {
            return { path, content: null, error: errorOf(error) }
          }
        }),
      ),
  }
}

function errorOf(error: unknown): FileOperationError {
  return (isWorkspaceError(error) ? words[error.code] : undefined) ?? 'invalid_path'
}
