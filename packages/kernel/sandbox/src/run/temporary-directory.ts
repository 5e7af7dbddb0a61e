import { WorkspaceError } from '@ws/core'
import { shortages } from '@ws/core/executor'
import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const temporaryRemedy =
  'give it a `/tmp` that can be written and holds programs (in a container `--tmpfs /tmp:exec`), or set TMPDIR to such a directory'

/** Creates an empty directory with mode 0700, and returns its host path without links. @throws WorkspaceError `ENOEXECUTOR` */
export function createTemporaryDirectory(prefix: string): string {
  try {
    return mkdtempSync(join(realpathSync(tmpdir()), prefix))
  } catch (native) {
    throw noTemporaryFiles(native)
  }
}

export function noTemporaryFiles(native: unknown): WorkspaceError {
  const shortage = shortages.of(native)
  if (shortage !== undefined) return shortages.refusal(shortage, { native })
  const reason = 'the directory for temporary files cannot be written'
  return new WorkspaceError({ code: 'ENOEXECUTOR', operation: 'exec', reason, remedy: temporaryRemedy, native })
}
