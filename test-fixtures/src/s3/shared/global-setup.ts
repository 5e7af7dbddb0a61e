import type { TestProject } from 'vitest/node'

import { startS3Broker } from './broker.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the {@link startS3Broker | broker} of this run. */
    readonly s3Broker: string
  }
}

/** Vitest's global set-up: one S3 server of each kind for all test files of a package, started when first needed. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const broker = await startS3Broker()
  project.provide('s3Broker', broker.url)
  return () => broker.close()
}
