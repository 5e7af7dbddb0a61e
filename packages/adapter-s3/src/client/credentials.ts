import type { S3Client } from '@aws-sdk/client-s3'
import { isExpired } from './native.ts'

/** Those that are being asked for, by the client that they are for. */
const asking = new WeakMap<S3Client, Promise<void>>()

/**
 * Asks for credentials again when the store says that those it was given have expired, before their own date too: of
 * many requests that are refused at once one asks. Fixed credentials stay what they are.
 */
export async function refreshCredentials(client: S3Client, error: unknown): Promise<void> {
  if (!isExpired(error)) return
  const running =
    asking.get(client) ??
    ask(client).finally(() => {
      asking.delete(client)
    })
  asking.set(client, running)
  await running
}

async function ask(client: S3Client): Promise<void> {
  // its type does not say so, but the SDK's form of any provider takes it
  const provider = client.config?.credentials as ((options: { forceRefresh: boolean }) => Promise<unknown>) | undefined
  await provider?.({ forceRefresh: true })
}
