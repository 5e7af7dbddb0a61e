import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import type { WithConnection } from '../options.ts'
import { shortenWay } from './transport.ts'

const ignore = (): void => undefined

/** The SDK would else warn on the console of what is handled here. */
const silent = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }

/**
 * A client for one adapter. Its own retries are off: an answer that was lost must not be mistaken for a lost race, so the
 * adapter retries, and knows that it did. Checksum trailers are off too, since several servers refuse them: bodies are
 * signed, and what is read is compared with its ETag.
 */
export function connect(options: WithConnection, maxSockets: number): S3Client {
  const { endpoint, region, credentials, forcePathStyle = endpoint !== undefined } = options
  const config: S3ClientConfig = {
    forcePathStyle,
    maxAttempts: 1,
    logger: silent,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: 10_000,
      httpAgent: { keepAlive: true, maxSockets },
      httpsAgent: { keepAlive: true, maxSockets },
      socketAcquisitionWarningTimeout: 600_000,
    },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined
      ? {}
      : {
          credentials: typeof credentials === 'function' ? async () => plain(await credentials()) : plain(credentials),
        }),
  }
  const client = new S3Client(config)
  shortenWay(client, maxSockets)
  return client
}

/** The SDK tells an absent field from an undefined one. */
function plain<Given extends object>(given: Given): { [Key in keyof Given]: Exclude<Given[Key], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}
