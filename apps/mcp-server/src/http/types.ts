import type { OAuthMetadata } from '@modelcontextprotocol/server'
import type { MessageLimits, OpenedWorkspace, SourceOptions } from '../types.ts'

export interface Subject {
  /** An id that is equal for all tokens of a user. The server never shows the id. */
  readonly id: string
  readonly scopes?: readonly string[] | undefined
  /** Seconds since the epoch. Default: the token does not expire here. */
  readonly expiresAt?: number | undefined
  /** The server for which the issuer made the token. With `resource`, the server checks this field. */
  readonly resource?: string | undefined
}

export interface AuthOptions {
  readonly verify: (token: string) => Promise<Subject | undefined>
  /** Scopes that each token must have. Default: none. */
  readonly requiredScopes?: readonly string[] | undefined
  /** This server as an OAuth resource, which directs clients to the authorization server (RFC 9728). */
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
 * With `auth`, a subject that already uses a part of a limit gets more only while other subjects can have as much.
 * Beyond limits of calls, streams and memory, the answer is 503; beyond limits of one message, 413.
 */
export interface HttpOptions extends SourceOptions, MessageLimits {
  /** Opens a subject's workspace, such as a thread by {@link openThreads}. Without `auth`, the only subject is `undefined`. */
  readonly open: (subject: Subject | undefined) => Promise<SubjectWorkspace>
  /** Default: no authentication, which the server allows only on the loopback. */
  readonly auth?: AuthOptions | undefined
  /** The address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** The port. Default 0: a free port. */
  readonly port?: number | undefined
  /** The path of the endpoint. Default `/mcp`. */
  readonly path?: string | undefined
  /** Accepted `Host` names without ports, required beyond the loopback. Default: names of the loopback. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Accepted `Origin` names. A missing `Origin` is accepted. Default: names of the loopback. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Milliseconds after which an unused workspace is closed. Default 300,000. */
  readonly idleTimeout?: number | undefined
  /** Called for errors of the server. Default: one line on standard error. */
  readonly onError?: ((error: unknown) => void) | undefined
}
