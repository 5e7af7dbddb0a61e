/** Where the host reaches a published port: by a port of its loopback, or by a Unix socket. */
export interface PublishOptions {
  /** A port of this machine's loopback. Default: a free one. */
  readonly hostPort?: number | undefined
  /** The absolute path of a Unix socket to make, in place of a port. Only this process's user can connect. */
  readonly socketPath?: string | undefined
}

/** A port of a workspace's loopback that the host reaches. */
export interface PublishedPort {
  readonly port: number
  /** `http://127.0.0.1:40123`; absent for a Unix socket. Any protocol over TCP passes. */
  readonly url?: string | undefined
  readonly hostPort?: number | undefined
  readonly socketPath?: string | undefined
}

/** A port on which a command listens. */
export interface ListeningPort {
  readonly port: number
  /** Present if the host reaches it. */
  readonly published?: PublishedPort | undefined
}

/** Servers of commands, which later commands reach on the workspace's loopback. */
export interface PortDoor {
  /** The ports of the workspace's loopback on which commands listen, ascending. `ENOTSUP`: commands have no such loopback. */
  ports(): Promise<readonly ListeningPort[]>
  /**
   * Lets the host reach a port of the workspace's loopback, until `unpublish` or `close()`. Every program of this machine reaches a host port.
   * `ENOENT`: nothing listens. `EEXIST`: published already. `EBUSY`: the host's port or path is taken. `EACCES`: a rule, or a right that lacks.
   * `ENOTSUP`: commands have no such loopback.
   */
  publish(port: number, options?: PublishOptions): Promise<PublishedPort>
  /** Ends the address of a published port, with its connections. `ENOENT`: the port is not published. */
  unpublish(port: number): Promise<void>
}
