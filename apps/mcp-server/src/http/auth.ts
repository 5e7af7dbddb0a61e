import {
  bearerAuthChallengeResponse,
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  verifyBearerToken,
  type AuthInfo,
  type VerifyBearerTokenOptions,
} from '@modelcontextprotocol/server'
import { createHash, timingSafeEqual } from 'node:crypto'

import type { AuthOptions, Subject } from './types.ts'

/** Seconds for which a token without an expiry is accepted: the SDK requires an expiry with each request. */
const untilNextCheck = 60

/** Checks tokens, and tells clients where to get a token. */
export class Gate {
  readonly #auth: AuthOptions
  readonly #options: VerifyBearerTokenOptions

  constructor(auth: AuthOptions) {
    this.#auth = auth
    const { requiredScopes, resource } = auth
    // reports an invalid issuer now instead of at the first request
    if (resource !== undefined) buildOAuthProtectedResourceMetadata(metadataOf(resource))
    this.#options = {
      verifier: { verifyAccessToken: (token) => this.#verify(token) },
      ...(requiredScopes && { requiredScopes: [...requiredScopes] }),
      ...(resource && {
        expectedResource: resource.url,
        resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource.url),
      }),
    }
  }

  /** The subject of a request, or the answer that refuses the request. */
  async check(authorization: string | undefined): Promise<Subject | Response> {
    try {
      const { extra } = await verifyBearerToken(authorization, this.#options)
      return extra?.['subject'] as Subject
    } catch (error) {
      return bearerAuthChallengeResponse(error, this.#options)
    }
  }

  /** The metadata of this resource, if the request is for the metadata; else `undefined`. */
  metadata(url: URL, method: string): Response | undefined {
    const { resource } = this.#auth
    if (resource === undefined || !url.pathname.startsWith('/.well-known/')) return undefined
    return oauthMetadataResponse(new Request(url, { method }), metadataOf(resource))
  }

  async #verify(token: string): Promise<AuthInfo> {
    const subject = await this.#auth.verify(token)
    if (subject === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, 'the token is not valid')
    const { id, scopes = [], expiresAt = Math.floor(Date.now() / 1000) + untilNextCheck, resource } = subject
    return {
      token,
      clientId: id,
      scopes: [...scopes],
      expiresAt,
      ...(resource !== undefined && { resource: new URL(resource) }),
      extra: { subject },
    }
  }
}

function metadataOf({ url, authorizationServer }: NonNullable<AuthOptions['resource']>) {
  return { resourceServerUrl: url, oauthMetadata: authorizationServer }
}

/** Fixed tokens by subject id, compared in constant time. */
export function fixedTokens(tokens: Readonly<Record<string, string>>): AuthOptions['verify'] {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const known = Object.entries(tokens).map(([token, id]) => ({ id, digest: digest(token) }))
  return async (token) => {
    const given = digest(token)
    let found: Subject | undefined
    for (const { id, digest: own } of known) if (timingSafeEqual(own, given)) found = { id }
    return found
  }
}
