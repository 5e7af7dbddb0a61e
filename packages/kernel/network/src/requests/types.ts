/** A rule for requests to one host. The first rule that matches a request decides about it. */
export interface RequestRule {
  /** The requests of this rule; each given part must match. Default: every request. */
  readonly match?: RequestMatch | undefined
  /** Changes a request before it is sent; a request without TLS is refused. */
  readonly transform?: RequestTransform | undefined
  /** Answers immediately, without contacting the host. Excludes `transform`. */
  readonly respond?: RequestAnswer | undefined
}

export interface RequestMatch {
  readonly method?: string | readonly string[] | undefined
  /** The path without its query. `*` stands for one segment or a part of it, `**` for anything: `/repos/acme/**`. */
  readonly path?: string | undefined
  /** Parameters of the query. Each parameter must occur once, with this value. */
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface RequestTransform {
  /** Headers that replace the request's own. Functions are called in this process, so credentials never enter the sandbox. */
  readonly headers?: Readonly<Record<string, string | (() => string | Promise<string>)>> | undefined
}

export interface RequestAnswer {
  /** From 200 to 599. */
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Default: none. */
  readonly body?: string | undefined
}

/** Rules by entries of a list of hosts, such as `{ 'api.github.com': [{ match: { method: 'GET' } }] }`. */
export type RequestRules = Readonly<Record<string, readonly RequestRule[]>>
