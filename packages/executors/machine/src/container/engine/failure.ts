import type { WorkspaceError } from '@ws/core'
import { execError, shortages } from '@ws/core/executor'

import { EngineError } from './client.ts'

interface Explained {
  readonly reason: string
  readonly remedy: string
  readonly code?: 'EBUSY' | 'ENOSPC'
}

/** Texts of Docker, Podman and runc. A text that is not known is for operators only, since it can contain host paths. */
const known: readonly (readonly [RegExp, Explained])[] = [
  [
    /no space left|disk quota exceeded/i,
    { code: 'ENOSPC', reason: 'the disk of the container engine is full', remedy: 'free some space or inodes' },
  ],
  [
    /bind source path does not exist|no such file or directory.*mount|mount.*no such file or directory|not a directory/i,
    {
      code: 'EBUSY',
      reason: 'a place in the workspace changed while the container was built',
      remedy: 'run the command again when nothing changes the workspace',
    },
  ],
  [
    /"?perl"?: executable file not found|exec: "perl"|perl.*no such file/i,
    {
      reason: 'the image has no perl, which runs commands in it',
      remedy: 'use an image that has it, such as `debian:stable-slim`, or add it to yours',
    },
  ],
  [
    /no such image|image not known/i,
    { reason: 'the engine does not have the image any more', remedy: 'pull it, or pass `pull: true`' },
  ],
  [
    /no such container/i,
    { code: 'EBUSY', reason: 'the container was removed meanwhile', remedy: 'run the command again' },
  ],
  [
    /cgroup|memory limit|pids/i,
    {
      reason: 'the engine cannot hold the limits',
      remedy: 'leave the limits out, or give the engine its control groups',
    },
  ],
  [
    /not shared|file ?sharing|mounts denied/i,
    {
      reason: 'the engine does not see this directory',
      remedy: 'share the directory with the engine, or run the engine on this machine',
    },
  ],
]

/** Returns a failure of the engine for callers: never with a host path, the engine's socket or a credential. */
export function engineError(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error
  const text = error.message
  const shortage = shortages.inText(text)
  if (shortage !== undefined) return shortages.refusal(shortage, { native: error })
  if (error.status === undefined) return unreachable(error)
  const {
    code = 'ENOEXECUTOR',
    reason,
    remedy,
  } = known.find(([pattern]) => pattern.test(text))?.[1] ?? {
    reason: `the container engine refused (status ${error.status})`,
    remedy: 'look into the log of the engine',
  }
  return execError(code, reason, { remedy, native: error })
}

export function unreachable(native: EngineError): WorkspaceError {
  const isClosed = native.code === 'EACCES' || native.code === 'EPERM'
  return execError(
    'ENOEXECUTOR',
    isClosed
      ? 'this user may not use the container engine'
      : `the container engine does not answer (${native.code ?? 'EIO'})`,
    {
      remedy: isClosed
        ? 'add the user to the group `docker`, which makes it root on this machine'
        : 'start its service',
      native,
    },
  )
}
