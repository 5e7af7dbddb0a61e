import { paths, WorkspaceError } from '@ws/core'
import type { MountPath, Owner, SignalOption } from '@ws/core/adapter'
import { checkOptions, option, refuseBeside, type S3Connection, s3Options } from '@ws/core/options'
import { type OptionShapes, quietly, type S3Credentials } from '@ws/core/options'

import { refuseChangedName } from './names.ts'

/**
 * The store and its mount. A store that speaks S3, such as R2, needs `endpoint` and `credentials`; the environment is not read.
 * Any other store needs `remote`. Default `region`: `auto`, which R2 requires; other stores often accept `us-east-1`.
 * Default `forcePathStyle`: true.
 */
export interface RcloneAdapterOptions extends S3Connection, SignalOption {
  /** rclone's name for an S3 store: `Cloudflare`, `AWS`, `Ceph`, `Minio`, `Other`. Default `Other`. */
  readonly provider?: string | undefined
  /** A store of another kind, instead of `endpoint` and `credentials`: its section of rclone's configuration, with `type`. */
  readonly remote?: Readonly<Record<string, string>> | undefined
  /** The bucket; for stores without buckets, their first directory. */
  readonly bucket: string
  /** The mounted part of the bucket, such as `threads/t1`. Nothing else can be reached. Default: the whole bucket. */
  readonly prefix?: string | undefined
  /** Nothing can be changed; rclone enforces it for commands too. Default false. */
  readonly readOnly?: boolean | undefined
  /** The user that owns the files and runs commands. Default: this process's user. Root has no default, and then no commands run. */
  readonly owner?: Owner | undefined
  /**
   * The directory of caches and mount points, on a local disk. Use the same directory at the next start, which uploads the files that
   * a dead process has not uploaded. Default: `/var/cache/ws-rclone` as root, else `ws-rclone` in the user's cache directory.
   */
  readonly directory?: string | undefined
  /** An empty directory to mount at. Default: a new directory in `directory`. */
  readonly mountPoint?: string | undefined
  /** rclone's path. Default: looked up in the system's directories. */
  readonly program?: string | undefined
  /** Limit of uploaded bytes that are kept on this machine. Default: no limit, but unused content is dropped after an hour. */
  readonly maxCacheBytes?: number | undefined
  readonly timeouts?: RcloneTimeouts | undefined
  /**
   * `auto` (default): a mount whose process died, or that stopped answering, is started again on the same cache;
   * operations wait for it. `manual`: until `recover()` is called, everything fails.
   */
  readonly recovery?: 'auto' | 'manual' | undefined
  /** Called with each event of the mount. Errors that the listener throws are ignored. */
  readonly onEvent?: ((event: RcloneEvent) => void) | undefined
}

interface RcloneTimeouts {
  /** Milliseconds after a file was closed before it is uploaded. Default 1,000. */
  readonly writeBack?: number | undefined
  /** Milliseconds for which a listing of the store is reused. Default 30,000. */
  readonly directoryCache?: number | undefined
  /** Milliseconds for which the kernel reuses a file's size and time. Default 1,000. */
  readonly attributeCache?: number | undefined
  /** Milliseconds that an operation may take before the mount is checked for life. Default 10,000. */
  readonly operation?: number | undefined
  /** Milliseconds that `flush` and `close` wait for uploads. Default 120,000. */
  readonly flush?: number | undefined
  /** Milliseconds that starting may take. Default 30,000. */
  readonly start?: number | undefined
}

/** An event of a mount, without paths and names of the store. */
export interface RcloneEvent {
  readonly kind: 'lost' | 'hung' | 'recovered' | 'recovery-failed' | 'upload-failed'
  /** A text for people. */
  readonly detail: string
}

export interface CheckedOptions {
  readonly section: Readonly<Record<string, string>>
  readonly bucket: string
  /** Without slashes at its ends; `""` for the whole bucket. */
  readonly prefix: string
  readonly readOnly: boolean
  readonly owner: Owner | undefined
  readonly directory: string | undefined
  readonly mountPoint: string | undefined
  readonly program: string | undefined
  readonly maxCacheBytes: number | undefined
  readonly timeouts: { readonly [Name in keyof RcloneTimeouts]-?: number }
  readonly recovery: 'auto' | 'manual'
  readonly onEvent: (event: RcloneEvent) => void
}

const highestId = 2 ** 32 - 2
const longestMs = 2 ** 31 - 1
const operation = 'createRcloneAdapter'

const hostPath = option.hidden(option.of('an absolute path of this machine', isAbsolutePath))
const duration = option.integer(1, longestMs)

export const ownerShape = option.options<Owner>(
  { uid: option.required(option.integer(1, highestId)), gid: option.required(option.integer(0, highestId)) },
  '`{ uid, gid }` of an ordinary user',
)

/** The options that describe an S3 store; `remote` describes any other store. */
const connection = { ...s3Options.connection, provider: option.text }

const shapes: OptionShapes<RcloneAdapterOptions> = {
  ...connection,
  remote: option.map(
    option.of('letters, digits and `_`', (name) => /^\w+$/.test(String(name))),
    option.hidden(
      option.of('a string of one line without `%(`', (value) => typeof value === 'string' && isConfigurable(value)),
    ),
  ),
  bucket: {
    ...s3Options.bucket,
    accepts: (value) => typeof value === 'string' && /^[^:\\]+$/.test(value) && isConfigurable(value),
  },
  prefix: option.of(
    `${s3Options.prefix.must}, of one line without \`%(\``,
    (value) => typeof value === 'string' && isConfigurable(value),
  ),
  readOnly: option.boolean,
  owner: ownerShape,
  directory: hostPath,
  mountPoint: hostPath,
  program: hostPath,
  maxCacheBytes: option.integer(1),
  timeouts: option.options<RcloneTimeouts>({
    ...{ writeBack: duration, directoryCache: duration, attributeCache: option.integer(0, longestMs) },
    ...{ operation: duration, flush: duration, start: duration },
  }),
  recovery: option.oneOf('auto', 'manual'),
  onEvent: option.function,
  signal: option.signal,
}

const s3Shapes: OptionShapes<RcloneAdapterOptions> = {
  ...shapes,
  endpoint: option.required(connection.endpoint),
  credentials: option.required(connection.credentials),
}

const use = (name: keyof RcloneTimeouts): string => `use \`timeouts.${name}\``
const removed = {
  ...{ writeBackDelay: use('writeBack'), directoryCacheTime: use('directoryCache'), flushTimeout: use('flush') },
  ...{ attributeCacheTime: use('attributeCache'), operationTimeout: use('operation'), startTimeout: use('start') },
}

/** @throws WorkspaceError `EINVAL` that names the option, without a secret in it. */
export function checkMountOptions(options: RcloneAdapterOptions): CheckedOptions {
  const { remote } = (options ?? {}) as Partial<RcloneAdapterOptions>
  checkOptions<RcloneAdapterOptions>(options, remote === undefined ? s3Shapes : shapes, { operation, removed })
  refuseBeside(operation, options, 'remote', Object.keys(connection))
  checkOwner(options.owner)
  const { writeBack = 1_000, directoryCache = 30_000, attributeCache = 1_000, ...waits } = options.timeouts ?? {}
  const { operation: forOperation = 10_000, flush = 120_000, start = 30_000 } = waits
  const { recovery = 'auto', readOnly = false, onEvent, owner, directory, mountPoint, program } = options
  return {
    section: sectionOf(options),
    bucket: options.bucket,
    prefix: checkPrefix(options.prefix),
    readOnly,
    owner,
    directory,
    mountPoint,
    program,
    maxCacheBytes: options.maxCacheBytes,
    timeouts: { writeBack, directoryCache, attributeCache, operation: forOperation, flush, start },
    recovery,
    onEvent: quietly(onEvent),
  }
}

/** Makes rclone keep names unchanged: keys equal the names, even names with control characters. */
const sameNames = 'Slash,Ctl,Del,Dot'

function sectionOf({ remote, ...s3 }: RcloneAdapterOptions): Record<string, string> {
  const section = remote === undefined ? s3Section(s3 as S3Store) : { ...remote }
  if (section['type'] === 's3') section['encoding'] ??= sameNames
  for (const [name, value] of Object.entries(section)) {
    // a line break would begin another setting, and the format expands `%(…)s`
    if (/^\w+$/.test(name) && typeof value === 'string' && isConfigurable(value)) continue
    throw invalid('the settings of the store must be strings of one line without `%(`', 'check its letters')
  }
  if (section['type'] === undefined || section['type'] === '') throw invalid('`remote` has no `type`', 'name its type')
  return section
}

type S3Store = RcloneAdapterOptions & { readonly endpoint: string; readonly credentials: S3Credentials }

function s3Section(store: S3Store): Record<string, string> {
  const { endpoint, region = 'auto', credentials, provider = 'Other', forcePathStyle = true } = store
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  return {
    type: 's3',
    provider,
    endpoint,
    region,
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
    ...(sessionToken === undefined ? {} : { session_token: sessionToken }),
    force_path_style: String(forcePathStyle),
    no_check_bucket: 'true', // it would try to make a bucket that is missing
    list_version: '2',
    list_url_encode: 'true', // else a name with a control character breaks the whole listing
  }
}

/** True for a value that rclone's configuration keeps unchanged: a single line, without `%(`, which would be expanded. */
function isConfigurable(value: string): boolean {
  return !/\p{Cc}|%\(/u.test(value)
}

function checkPrefix(prefix = ''): string {
  const bare = prefix.replace(/^\/+|\/+$/g, '')
  if (bare === '') return ''
  const path: MountPath = paths.parseMount(`/${bare}`, operation)
  refuseChangedName(operation, path)
  return path.slice(1)
}

function checkOwner(owner: Owner | undefined): void {
  const own = process.getuid?.()
  if (owner === undefined || own === undefined || own === 0) return
  if (owner.uid === own && owner.gid === process.getgid?.()) return
  throw invalid(
    '`owner` must be the user of this process: only root can mount for others',
    'leave it out, or run as root',
  )
}

function isAbsolutePath(path: unknown): boolean {
  return typeof path === 'string' && path.startsWith('/') && path.isWellFormed() && isConfigurable(path)
}

export function invalid(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason, remedy })
}
