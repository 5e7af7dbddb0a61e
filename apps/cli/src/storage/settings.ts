import type { S3Connection } from '@ws/core/options'

/** A directory of this machine. */
export interface LocalSettings {
  readonly kind: 'local'
  /** A host path. */
  readonly root: string
  /** As it was typed, for messages. */
  readonly shown: string
}

interface BucketSettings {
  readonly bucket: string
  /** Whole segments without slashes around them; `""` for the whole bucket. */
  readonly prefix: string
  readonly symlinks: 'off' | 'rclonelink'
  /** Names of environment variables; never the values. Default: the AWS SDK looks where it always does. */
  readonly credentialsFrom?: CredentialVariables | undefined
  /** Where a copy lies in which programs of this machine work: a host path. Default: there is none. */
  readonly replica?: string | undefined
  readonly shown: string
}

export interface CredentialVariables {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

export interface S3Settings extends BucketSettings, Omit<S3Connection, 'credentials'> {
  readonly kind: 's3'
}

export interface R2Settings extends BucketSettings {
  readonly kind: 'r2'
  readonly location: { readonly accountId: string } | { readonly endpoint: string }
}

/** A bucket that rclone mounts: programs of this machine work in it. */
export interface RcloneSettings extends Omit<S3Settings, 'kind' | 'symlinks' | 'replica'> {
  readonly kind: 'rclone'
  /** Where its cache is: a host path. Default: the adapter's. */
  readonly directory?: string | undefined
}

/** Where a mount's files are. */
export type StorageSettings = LocalSettings | S3Settings | R2Settings | RcloneSettings

export function isBucket(storage: StorageSettings): storage is S3Settings | R2Settings {
  return storage.kind === 's3' || storage.kind === 'r2'
}

/** Where the copy of a bucket lies; `undefined` for a storage without one. */
export function copyOf(storage: StorageSettings): string | undefined {
  return isBucket(storage) ? storage.replica : undefined
}

/** Whether programs of this machine can work in it: only then is there a directory to show them. */
export function hasDirectory(storage: StorageSettings): boolean {
  return !isBucket(storage) || copyOf(storage) !== undefined
}
