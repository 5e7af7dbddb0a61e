import type { TestProject } from 'vitest/node'

import { startS3Broker, type S3Broker } from './broker.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the {@link startS3Broker | broker} of this run. */
    readonly s3Broker: string
  }
}

let broker: Promise<S3Broker> | undefined
let users = 0

/** Vitest's global set-up: one S3 server of each kind per run, started on first use. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  broker ??= startS3Broker()
  users += 1
  const shared = await broker
  project.provide('s3Broker', shared.url)
  return async () => {
    users -= 1
    if (users > 0) return
    broker = undefined
    await shared.close()
  }
}
