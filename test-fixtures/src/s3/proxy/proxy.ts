import { once } from 'node:events'
import { createServer } from 'node:http'

import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'

import { Clients, type S3Connection } from '../server.ts'
import type { Fault, FaultPlan } from './faults.ts'
import { forward } from './forward.ts'
import { describeRequest, type ProxiedRequest, type RecordedRequest } from './request.ts'

export interface FaultProxyOptions {
  /** The plan of faults. Default: no faults, only recording. */
  readonly faults?: FaultPlan
}

/** A proxy for an S3 server. It records requests, and makes some requests fail. */
export interface FaultProxy extends S3Connection, AsyncDisposable {
  /** Requests since the start or the last {@link FaultProxy.clear}, in order. */
  readonly requests: readonly RecordedRequest[]
  /** Replaces the plan for later requests. */
  setFaults(faults: FaultPlan | undefined): void
  clear(): void
  /** Runs `action`, and returns its result with the requests during it. */
  record<Result>(action: () => Promise<Result>): Promise<{ result: Result; requests: readonly RecordedRequest[] }>
  /** A client that uses the proxy. It is closed with the proxy. */
  client(config?: S3ClientConfig): S3Client
  /** Closes the proxy and its connections. The server remains. */
  close(): Promise<void>
}

/** Starts a proxy at a free port of 127.0.0.1. Requests keep signature and `Host`: clients sign the proxy's address. */
export async function startFaultProxy(server: S3Connection, options: FaultProxyOptions = {}): Promise<FaultProxy> {
  let plan = options.faults
  let requests: RecordedRequest[] = []
  let count = 0
  const target = new URL(server.endpoint)
  const basePath = target.pathname.replace(/\/$/u, '')

  const http = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const described = describeRequest({ method, url, headers, index: count }, basePath)
    count += 1
    const recorded = begin(described, plan?.(described))
    requests.push(recorded)
    response.once('close', () => {
      recorded.endedAt = performance.now()
    })
    // If one side vanishes, the other side's connection is reset, as without a proxy.
    forward({ request, response, recorded, target }).catch(() => request.socket.resetAndDestroy())
  })
  // uploads of a gibibyte take longer than the default timeout
  http.requestTimeout = 0
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const address = http.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')

  const { name, region, credentials, bucket } = server
  const connection = { name, region, credentials, bucket, endpoint: `http://127.0.0.1:${address.port}${basePath}` }
  const clients = new Clients(connection)
  const close = async () => {
    clients.destroy()
    const closed = http.listening ? once(http, 'close') : undefined
    http.close()
    http.closeAllConnections()
    await closed
  }
  return {
    ...connection,
    get requests() {
      return requests
    },
    setFaults(faults) {
      plan = faults
    },
    clear() {
      requests = []
    },
    async record(action) {
      const before = requests.length
      const list = requests
      const result = await action()
      return { result, requests: list.slice(before) }
    },
    client: clients.open,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function begin(request: ProxiedRequest, fault: Fault | undefined): RecordedRequest {
  return {
    ...request,
    fault,
    serverStatus: undefined,
    status: undefined,
    requestBytes: 0,
    responseBytes: 0,
    startedAt: performance.now(),
    endedAt: undefined,
  }
}
