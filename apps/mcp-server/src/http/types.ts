import type { OAuthMetadata } from '@modelcontextprotocol/server'
import type { MessageLimits, OpenedWorkspace, SourceOptions } from '../types.ts'

export interface Subject {
  /** The same for each token of one user. Never shown. */
  readonly id: string
  readonly scopes?: readonly string[] | undefined
  /** Seconds since the epoch. Default: the token does not expire here. */
  readonly expiresAt?: number | undefined
  /** The server that the token was made for, in the words of its issuer; compared where `resource` is given. */
  readonly resource?: string | undefined
}

export interface AuthOptions {
  readonly verify: (token: string) => Promise<Subject | undefined>
  /** Scopes that each token must have. Default: none. */
  readonly requiredScopes?: readonly string[] | undefined
  /** This server as an OAuth resource: clients find their way to the authorization server by it (RFC 9728). */
  readonly resource?:
    | {
        /** The public URL of this server. Tokens must be made for it. */
        readonly url: URL
        /** Metadata of the authorization server (RFC 8414). */
        readonly authorizationServer: OAuthMetadata
      }
    | undefined
}

/** A workspace of one subject. */
export interface SubjectWorkspace extends OpenedWorkspace {
  /** Called when the workspace was unused for `idleTimeout`, and when the server closes. */
  close(): Promise<void>
}

/**
 * With `auth`, a subject that has a share of a limit gets more only while as much is left for others. Beyond the limits of
 * calls, streams and memory: 503. Beyond those of one message: 413.
 */
export interface HttpOptions extends SourceOptions, MessageLimits {
  /** Opens a subject's workspace, such as a thread by {@link openThreads}. `undefined`: the one subject without `auth`. */
  readonly open: (subject: Subject | undefined) => Promise<SubjectWorkspace>
  /** Default: none, which only an address of the loopback is served with. */
  readonly auth?: AuthOptions | undefined
  /** The address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Default 0: a free one. */
  readonly port?: number | undefined
  /** Default `/mcp`. */
  readonly path?: string | undefined
  /** Names in `Host` that are served, without ports. Default: those of the loopback. Needed for another address. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Names in `Origin` that are served. Default: those of the loopback. Requests without an `Origin` are served. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Milliseconds after which an unused workspace is closed. Default 300,000. */
  readonly idleTimeout?: number | undefined
  /** Hears of what went wrong in the server. Default: one line on standard error. */
  readonly onError?: ((error: unknown) => void) | undefined
}
