import { startR2Server, type S3Connection, type S3Server } from '@ws/test-fixtures/s3'

import { createScratchStore, type ScratchStore } from '../storage/scratch.ts'

/** A bucket of R2's own simulator, on this machine; gone when it is disposed of. */
export interface DemoBucket extends AsyncDisposable {
  /** For other clients than this project's own adapter. */
  readonly connection: S3Connection
  createStore(): Promise<ScratchStore>
}

/** Milliseconds in which the simulator has to be there. */
const patience = 20_000

/** Starts it; a failure is an `Error` that can be shown. */
export async function startBucket(): Promise<DemoBucket> {
  const starting = startR2Server({ buckets: 1 })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('it is not there in time')), patience)
  })
  const server = await Promise.race([starting, late])
    .catch((error: unknown) => {
      // a server that starts too late is closed again
      starting.then((one) => one.close()).catch(() => undefined)
      throw error
    })
    .finally(() => clearTimeout(timer))
  return {
    connection: server,
    createStore: () => createScratchStore(settingsOf(server)),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

/**
 * As the config file would have it: credentials by the names of variables, which the demo sets for itself. Without links,
 * as they are by default: looking for them takes twice the time.
 */
function settingsOf({ endpoint, bucket, credentials }: S3Server) {
  const credentialsFrom = { accessKeyId: 'WS_DEMO_KEY_ID', secretAccessKey: 'WS_DEMO_SECRET' }
  process.env[credentialsFrom.accessKeyId] = credentials.accessKeyId
  process.env[credentialsFrom.secretAccessKey] = credentials.secretAccessKey
  const shared = { bucket, prefix: 'threads', symlinks: 'off', credentialsFrom, shown: bucket } as const
  // R2's way, but the simulator is only S3 to who looks
  return { kind: 's3', endpoint, region: 'auto', ...shared } as const
}
