import type { S3Credentials } from '@ws/core/options'

import { UsageError } from '../errors.ts'
import { checkEndpoint } from './bucket.ts'
import type { CredentialVariables } from './settings.ts'

/** The service's URL from the environment variables of the AWS SDK. */
export function endpointOfEnvironment(): string | undefined {
  const variable = ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'].find((name) => (process.env[name] ?? '') !== '')
  return variable === undefined ? undefined : checkEndpoint(process.env[variable] ?? '', variable)
}

/** Reads credentials from variables. Errors never repeat a variable's name, because the name may be the secret itself. */
export function readCredentials(variables: CredentialVariables): S3Credentials {
  const read = (field: keyof CredentialVariables): string => {
    const value = process.env[variables[field] ?? '']
    if (value !== undefined && value !== '') return value
    throw new UsageError(
      `--config: credentialsFrom.${field}: the environment has no such variable; set it to the credential`,
    )
  }
  return {
    accessKeyId: read('accessKeyId'),
    secretAccessKey: read('secretAccessKey'),
    sessionToken: variables.sessionToken === undefined ? undefined : read('sessionToken'),
  }
}
