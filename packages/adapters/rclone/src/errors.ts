import { type ErrorCode, WorkspaceError } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

export interface FailureOptions {
  readonly operation: string
  readonly path?: MountPath | undefined
  readonly remedy?: string | undefined
  readonly native?: unknown
}

/** Makes an error of the mount. The reason contains no host path, bucket or secret; only `native` may. */
export function failure(code: ErrorCode, reason: string, options: FailureOptions): WorkspaceError {
  return new WorkspaceError({ code, reason, ...options })
}

interface Diagnosis {
  readonly code: ErrorCode
  readonly reason: string
  readonly remedy: string
  /** Retries do not help: the user must act. */
  readonly lasting?: true
}

/** Meanings of rclone's messages; the first match is used. The messages are never shown, because they name buckets and keys. */
const diagnoses: readonly (readonly [RegExp, Diagnosis])[] = [
  [
    /InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied|Forbidden|InvalidToken|ExpiredToken|status code: 40[13]/i,
    {
      code: 'EBACKEND',
      reason: 'the store refuses the credentials, or their use here',
      remedy: 'check the credentials and what they permit',
      lasting: true,
    },
  ],
  [
    /NoSuchBucket|directory not found|bucket (?:does not|doesn't) exist/i,
    {
      code: 'EBACKEND',
      reason: 'the bucket does not exist',
      remedy: 'create the bucket, or name another one',
      lasting: true,
    },
  ],
  [
    /no space left|disk quota|file system is full/i,
    {
      code: 'ENOSPC',
      reason: 'no space is left on the disk that holds the cache',
      remedy: 'free some space there, or name another `directory`',
    },
  ],
  [
    /read-only file system/i,
    {
      code: 'EROFS',
      reason: 'the cache lies on a read-only file system',
      remedy: 'name a `directory` that can be written',
    },
  ],
  [
    /failed to mount FUSE|fusermount\S*: |\/dev\/fuse|modprobe fuse/i,
    {
      code: 'ENOTSUP',
      reason: 'this machine cannot mount: FUSE is not available to this user',
      remedy: 'install fuse3, load the module `fuse`, and give this user /dev/fuse',
    },
  ],
  [
    /not permitted|permission denied/i,
    {
      code: 'ENOTSUP',
      reason: 'this machine does not permit what the mount needs',
      remedy: 'run as root, or allow `user_allow_other` in /etc/fuse.conf and access to /dev/fuse',
    },
  ],
  [
    /connection (?:refused|reset|broken)|no such host|timeout|network is unreachable|dial tcp|EOF|broken pipe|closed network connection|server closed|deadline exceeded|send request failed|ServiceUnavailable|InternalError|status code: 5\d\d/i,
    { code: 'EBACKEND', reason: 'the store cannot be reached', remedy: 'check the endpoint and the network' },
  ],
]

/** The fault that a message of rclone describes. */
export function diagnose(said: string): Diagnosis {
  for (const [pattern, diagnosis] of diagnoses) if (pattern.test(said)) return diagnosis
  return { code: 'EIO', reason: 'rclone reports an error', remedy: 'look at its messages (`getNativeCause`)' }
}

/** The error for a message of rclone; the message is kept for operators. */
export function diagnosed(said: string, operation: string): WorkspaceError {
  const { code, reason, remedy } = diagnose(said)
  return failure(code, reason, { operation, remedy, native: new Error(said) })
}
