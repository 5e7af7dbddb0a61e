import { startCephServer, startR2Server, type S3ServerName } from '@ws/test-fixtures/s3'

/** Starts the store that an example names, and gives the variables by which it finds it. */
export async function openStore(
  name: S3ServerName | undefined,
): Promise<AsyncDisposable & { readonly env: Readonly<Record<string, string>> }> {
  if (name === undefined) return { env: {}, [Symbol.asyncDispose]: () => Promise.resolve() }
  const server = name === 'r2' ? await startR2Server() : await startCephServer()
  const { endpoint, region, credentials, bucket } = server
  const { accessKeyId, secretAccessKey } = credentials
  return {
    env: {
      S3_ENDPOINT: endpoint,
      S3_BUCKET: bucket,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}
