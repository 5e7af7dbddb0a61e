import type { IncomingHttpHeaders } from 'node:http'

import type { Fault } from './faults.ts'

export interface ProxiedRequest {
  readonly index: number
  readonly method: string
  /** The percent-encoded path without query and endpoint path. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The S3 operation, such as `GetObject`. */
  readonly operation: string
  readonly bucket: string
  /** Decoded; empty for operations on the bucket. */
  readonly key: string
}

/** A request and its outcome, filled in while it runs. */
export interface RecordedRequest extends ProxiedRequest {
  readonly fault: Fault | undefined
  /** The server's status, if it answered. */
  serverStatus: number | undefined
  /** The server's second status, for a duplicated request. */
  secondStatus?: number | undefined
  /** The status sent to the client. */
  status: number | undefined
  /** Numbers of body bytes, read from and sent to the client. */
  requestBytes: number
  responseBytes: number
  /** Milliseconds of `performance.now()`, which show overlaps. */
  readonly startedAt: number
  endedAt: number | undefined
}

/** Finds the S3 operation, and splits the path. `basePath` is the endpoint's part. */
export function describeRequest(
  { method, url, headers, index }: { method: string; url: string; headers: IncomingHttpHeaders; index: number },
  basePath: string,
): ProxiedRequest {
  const [target = '', search = ''] = url.split(/\?(.*)/su)
  const path = target.startsWith(`${basePath}/`) ? target.slice(basePath.length) : target
  const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/su.exec(path) ?? []
  const query = new URLSearchParams(search)
  const operation = nameOperation(method, key !== '', query, headers)
  return { index, method, path, query, headers, operation, bucket, key: decode(key) }
}

function nameOperation(method: string, hasKey: boolean, query: URLSearchParams, headers: IncomingHttpHeaders): string {
  const copies = headers['x-amz-copy-source'] !== undefined
  if (!hasKey) {
    if (method === 'GET')
      return query.has('uploads') ? 'ListMultipartUploads' : query.has('list-type') ? 'ListObjectsV2' : 'GetBucket'
    if (method === 'POST' && query.has('delete')) return 'DeleteObjects'
    return `${title(method)}Bucket`
  }
  if (query.has('uploadId')) {
    if (method === 'PUT') return copies ? 'UploadPartCopy' : 'UploadPart'
    return { GET: 'ListParts', POST: 'CompleteMultipartUpload', DELETE: 'AbortMultipartUpload' }[method] ?? method
  }
  if (method === 'POST' && query.has('uploads')) return 'CreateMultipartUpload'
  return copies ? 'CopyObject' : `${title(method)}Object`
}

const title = (method: string): string => method.charAt(0) + method.slice(1).toLowerCase()

function decode(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
