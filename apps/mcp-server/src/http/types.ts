import type { OAuthMetadata } from '@modelcontextprotocol/server'
import type { MessageLimits, OpenedWorkspace, SourceOptions } from '../types.ts'

export interface Subject {
  /** The same for all tokens of a user. Never shown. */
  readonly id: string
  readonly scopes?: readonly string[] | undefined
  /** Seconds since the epoch. Default: the token does not expire here. */
  readonly expiresAt?: number | undefined
  /** The server that the issuer made the token for; checked with `resource`. */
  readonly resource?: string | undefined
}

export interface AuthOptions {
  readonly verify: (token: string) => Promise<Subject | undefined>
  /** Scopes that each token must have. Default: none. */
  readonly requiredScopes?: readonly string[] | undefined
  /** This server as an OAuth resource, to lead clients to the authorization server (RFC 9728). */
  readonly resource?:
    | {
        /** This server's public URL, which tokens must name. */
        readonly url: URL
        /** Metadata of the authorization server (RFC 8414). */
        readonly authorizationServer: OAuthMetadata
      }
    | undefined
}

/** A workspace of one subject. */
export interface SubjectWorkspace extends OpenedWorkspace {
  /** Called after `idleTimeout` without use, and when the server closes. */
  close(): Promise<void>
}

/**
 * With `auth`, a subject with a share gets more only while others can have as much.
 * Limits of calls, streams and memory answer 503, those of one message 413.
 */
export interface HttpOptions extends SourceOptions, MessageLimits {
  /** Opens a subject's workspace, such as a thread by {@link openThreads}. `undefined`: the one subject without `auth`. */
  readonly open: (subject: Subject | undefined) => Promise<SubjectWorkspace>
  /** Default: none, allowed only on the loopback. */
  readonly auth?: AuthOptions | undefined
  /** The address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Default 0: a free one. */
  readonly port?: number | undefined
  /** Default `/mcp`. */
  readonly path?: string | undefined
  /** Accepted `Host` names without ports, needed beyond the loopback. Default: the loopback's. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Accepted `Origin` names; a missing `Origin` is accepted. Default: the loopback's. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Milliseconds after which an unused workspace is closed. Default 300,000. */
  readonly idleTimeout?: number | undefined
  /** Called for errors of the server. Default: one line on standard error. */
  readonly onError?: ((error: unknown) => void) | undefined
}
