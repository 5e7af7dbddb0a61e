import { WorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import type { BackendProtocolV2 } from 'deepagents'

import { orFault } from './errors.ts'
import { mediaTypeOf } from './kinds.ts'

type Writing = Pick<Required<BackendProtocolV2>, 'write' | 'delete'>

export function createWriting(workspace: Workspace): Writing {
  return {
    write: (path, content) =>
      orFault(path, async () => {
        const { version } = await workspace.write(path, contentOf(path, content))
        return { path, filesUpdate: null, metadata: { version } }
      }),
    delete: (path) =>
      orFault(path, async () => {
        await workspace.delete(path, { recursive: true })
        return { path, filesUpdate: null }
      }),
  }
}

/** The bytes to write. In the protocol, the content of a file with a media name is Base64. */
function contentOf(path: string, content: string): string | Uint8Array {
  if (mediaTypeOf(path) === undefined) return content
  const plain = content.replaceAll(/\s/gu, '')
  if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/u.test(plain)) {
    return Buffer.from(plain, 'base64')
  }
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'write',
    path,
    reason: 'is a media file, and the content is not Base64',
    remedy: 'give its bytes in Base64, or choose a name for text',
  })
}
