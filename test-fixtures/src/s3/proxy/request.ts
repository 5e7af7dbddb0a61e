import type { IncomingHttpHeaders } from 'node:http'

import type { Fault } from './faults.ts'

export interface ProxiedRequest {
  /** Counted from 0 since the proxy was started. */
  readonly index: number
  readonly method: string
  /** Path as it came, percent-encoded, with neither query nor the path of the endpoint. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The S3 operation, such as `GetObject`. */
  readonly operation: string
  readonly bucket: string
  /** Decoded; empty for operations on the bucket. */
  readonly key: string
}

/** A request and what became of it. Fields that are not known yet are filled in while it runs. */
export interface RecordedRequest extends ProxiedRequest {
  readonly fault: Fault | undefined
  /** Status that the server answered, if the request came that far. */
  serverStatus: number | undefined
  /** Status that the server answered when the network had delivered the request a second time. */
  secondStatus?: number | undefined
  /** Status that the client was sent. */
  status: number | undefined
  /** Bytes of the body that were read from the client, and that were sent to it. */
  requestBytes: number
  responseBytes: number
  /** In ms, on the clock of `performance.now()`; two requests ran side by side when their times overlap. */
  readonly startedAt: number
  endedAt: number | undefined
}

/** Names the S3 operation of a request, and splits its path. `basePath` is the path of the endpoint. */
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
