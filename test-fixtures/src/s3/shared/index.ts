import { inject } from 'vitest'

import { component, type Component } from '../../components.ts'
import { createServer, type S3Connection, type S3Server, type S3ServerName } from '../server.ts'

// imported for the types of provided values
import type {} from './global-setup.ts'

/** The run's shared server with a fresh bucket. `vitest.config.ts` must export `configWithS3`. */
export async function sharedS3Server(name: S3ServerName): Promise<S3Server> {
  const connection = await connect(name)
  return createServer(connection, {
    createBucket: async () => (await connect(name)).bucket,
    close: () => Promise.resolve(),
  })
}

export function s3Needs(name: S3ServerName): readonly Component[] {
  if (name === 'swift') return [component('swift')]
  return name === 'ceph' ? [component('radosgw')] : []
}

async function connect(name: S3ServerName): Promise<S3Connection> {
  const response = await fetch(`${inject('s3Broker')}/${name}`, { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as S3Connection
}
