import type { S3Connection } from '@ws/core/options'

export interface LocalSettings {
  readonly kind: 'local'
  /** A host path. */
  readonly root: string
  readonly shown: string
}

interface BucketSettings {
  readonly bucket: string
  /** Whole segments without outer slashes; `""` for the whole bucket. */
  readonly prefix: string
  readonly symlinks: 'off' | 'rclonelink'
  /** Names of environment variables, never their values. Default: the AWS SDK's search. */
  readonly credentialsFrom?: CredentialVariables | undefined
  /** The host path of a copy in which programs work. Default: no copy. */
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

/** A bucket mounted by rclone for programs of this machine. */
export interface RcloneSettings extends Omit<S3Settings, 'kind' | 'symlinks' | 'replica'> {
  readonly kind: 'rclone'
  /** A host path for the mount's cache. Default: the adapter's default. */
  readonly directory?: string | undefined
}

/** The storage of a mount's files. */
export type StorageSettings = LocalSettings | S3Settings | R2Settings | RcloneSettings

export function isBucket(storage: StorageSettings): storage is S3Settings | R2Settings {
  return storage.kind === 's3' || storage.kind === 'r2'
}

export function copyOf(storage: StorageSettings): string | undefined {
  return isBucket(storage) ? storage.replica : undefined
}

/** True if programs of this machine can use the storage: programs need a directory. */
export function hasDirectory(storage: StorageSettings): boolean {
  return !isBucket(storage) || copyOf(storage) !== undefined
}
