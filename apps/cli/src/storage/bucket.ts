import { quotePath } from '@ws/core'

import { UsageError } from '../errors.ts'
import { checkMountPoint } from '../usage.ts'

/** Parses `BUCKET` or `BUCKET/PREFIX`, also with `s3://` in front. @throws UsageError */
export function parseBucket(text: string, place: string): { readonly bucket: string; readonly prefix: string } {
  const [bucket = '', ...segments] = text.replace(/^s3:\/\//u, '').split('/')
  return { bucket: checkBucketName(bucket, place), prefix: checkPrefix(segments.join('/'), place) }
}

/** Checks a bucket's name. Accepts more than AWS's current rule: old buckets and other servers have capitals and underscores. */
export function checkBucketName(name: string, place: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/u.test(name)) return name
  throw new UsageError(
    `${place}: ${quotePath(name)} is not the name of a bucket; give BUCKET or BUCKET/PREFIX, the bucket with 3 to 63 ` +
      'letters, digits, `.`, `_` and `-`',
  )
}

/** Checks a prefix of whole segments. Ignores a trailing slash. */
export function checkPrefix(text: string, place: string): string {
  const prefix = text.replace(/\/$/u, '')
  if (prefix === '') return ''
  const path = checkMountPoint(`/${prefix}`, place)
  if (path === `/${prefix}`) return prefix
  throw new UsageError(
    `${place}: ${quotePath(text)} is not a prefix; give names with one \`/\` between them, as in threads/t1`,
  )
}

/** Checks a service's URL. Refuses parts that could contain a secret, without repeating these in the error. */
export function checkEndpoint(text: string, place: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/u.test(url.protocol)) {
    throw new UsageError(`${place}: is not a URL; give one such as https://s3.example.com`)
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(
      `${place}: has more than scheme, host, port and path; credentials come from where the AWS SDK looks for them`,
    )
  }
  return text
}
