import { option, type OptionShapes } from './shapes.ts'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** The connection to a store with the S3 protocol. Adapters accept these options beside their own. */
export interface S3Connection<Credentials = S3Credentials> {
  /** URL of the service, without the bucket: `https://<account>.r2.cloudflarestorage.com`. */
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  readonly credentials?: Credentials | undefined
  /** Use `endpoint/bucket/key` instead of `bucket.endpoint/key`. Most self-hosted servers need this. */
  readonly forcePathStyle?: boolean | undefined
}

/** Shapes of the options. Messages never contain the endpoint or credentials. */
export const s3ConnectionShapes = {
  endpoint: option.hidden(
    option.of('a URL that begins with `http://` or `https://`', (value) => typeof value === 'string' && isHttp(value)),
  ),
  region: option.text,
  credentials: option.hidden(option.of('`{ accessKeyId, secretAccessKey }`', isS3Credentials)),
  forcePathStyle: option.boolean,
} as const satisfies OptionShapes<S3Connection>

export const bucketShape = option.required(
  option.of('the name of a bucket', (value) => typeof value === 'string' && value.trim() !== ''),
)

export const prefixShape = option.of('a path such as `threads/t1`', (value) => typeof value === 'string')

export function isS3Credentials(value: unknown): value is S3Credentials {
  if (typeof value !== 'object' || value === null) return false
  const { accessKeyId, secretAccessKey, sessionToken } = value as Readonly<Record<string, unknown>>
  return (
    typeof accessKeyId === 'string' &&
    accessKeyId !== '' &&
    typeof secretAccessKey === 'string' &&
    (sessionToken === undefined || typeof sessionToken === 'string')
  )
}

function isHttp(value: string): boolean {
  return /^https?:\/\/[^/]/u.test(value) && URL.canParse(value)
}
