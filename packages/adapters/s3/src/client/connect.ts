import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { rootCertificates } from 'node:tls'
import type { S3Credentials } from '@ws/core/options'
import type { WithConnection } from '../options.ts'
import { assertNoPage } from './native.ts'
import { shortenWay } from './transport.ts'

const ignore = (): void => undefined

/** A silent logger. Without it, the SDK would print warnings on the console. */
const silent = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Makes a client without retries, since the adapter's own retries handle lost answers, and without checksum trailers. */
export function connect(options: WithConnection, maxSockets: number): S3Client {
  const { endpoint, region, credentials, forcePathStyle = endpoint !== undefined, ca } = options
  const trusted = ca === undefined ? {} : { ca: [...rootCertificates, ...[ca].flat()] }
  const proxyEnv = environmentFor(endpoint)
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
      httpsAgent: { keepAlive: true, maxSockets, ...trusted, ...(proxyEnv && { proxyEnv }) },
      socketAcquisitionWarningTimeout: 600_000,
    },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined
      ? {}
      : {
          credentials: typeof credentials === 'function' ? () => ask(credentials) : plain(credentials),
        }),
  }
  const client = new S3Client(config)
  refusePages(client)
  shortenWay(client, maxSockets, { ...trusted, proxied: proxyEnv !== undefined })
  return client
}

async function ask(provide: () => Promise<S3Credentials & { readonly expiration?: Date | undefined }>) {
  try {
    return plain(await provide())
  } catch (error) {
    throw Object.assign(new Error('the function that gives credentials failed', { cause: error }), {
      name: 'CredentialsFunctionError',
    })
  }
}

/** The environment, if it names a proxy for the endpoint, as for curl and `NODE_USE_ENV_PROXY`. */
function environmentFor(endpoint = 'https://aws'): NodeJS.ProcessEnv | undefined {
  const { https_proxy: lower, HTTPS_PROXY: proxy = lower } = process.env
  const { protocol, hostname } = new URL(endpoint)
  const isHere = /^(?:localhost|127\..*|\[::1\])$/u.test(hostname)
  return protocol !== 'https:' || isHere || proxy === undefined || proxy === '' ? undefined : process.env
}

/** Refuses a web page as an answer, though the SDK may accept it. */
function refusePages(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (given) => {
      const result = await next(given)
      const { statusCode, headers } = result.response as { statusCode: number; headers: Record<string, string> }
      assertNoPage(statusCode, headers)
      return result
    },
    { step: 'deserialize', name: 'refusePages' },
  )
}

/** Removes undefined fields: the SDK distinguishes an absent field from an undefined one. */
function plain<Given extends object>(given: Given): { [Key in keyof Given]: Exclude<Given[Key], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}
