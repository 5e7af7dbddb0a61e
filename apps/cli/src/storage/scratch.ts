import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'

import { openBucket, probeBucket } from './s3.ts'
import type { R2Settings, S3Settings } from './settings.ts'

/** A temporary part of a store, with adapters below it. */
export interface ScratchStore extends AsyncDisposable {
  /** The name of the store in messages: `s3`. */
  readonly name: string
  /** Opens an adapter below a path such as `/threads/t1`. The caller closes the adapter. */
  open(path: string): Promise<StorageAdapter>
}

/** Reserves a new part below the prefix. Disposal deletes the part with all content. */
export async function createScratchStore(settings: S3Settings | R2Settings): Promise<ScratchStore> {
  const dialect = await probeBucket(settings) // probed once, instead of by every adapter
  const name = `ws-check-${crypto.randomUUID()}`
  const above = settings.prefix === '' ? '' : `${settings.prefix}/`
  return {
    name: settings.kind,
    open: (path) => openBucket({ ...settings, prefix: above + name + path }, { dialect }),
    async [Symbol.asyncDispose]() {
      const adapter = await openBucket(settings, { dialect })
      try {
        await adapter.delete(paths.parseMount(`/${name}`), { recursive: true, force: true })
      } finally {
        await adapter.close()
      }
    },
  }
}
