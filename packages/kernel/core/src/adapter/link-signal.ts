import type { MountPath } from '../path/virtual-path.ts'

/** The path argument that led to the link; `path` for an operation with one path. */
export type LinkArgument = 'path' | 'source' | 'destination'

export interface LinkSignalOptions {
  readonly argument?: LinkArgument | undefined
  /** The link itself. Every component before it is a real directory. */
  readonly at: MountPath
  readonly target: string
  /** The segments after the link, without a leading slash; `""` if the link is the last segment. */
  readonly rest: string
}

/**
 * Reports a symbolic link on the path. An adapter rejects with this signal instead of following the link, before any effect or read.
 * The workspace resolves the target, checks the policy again and continues. Callers never see the signal.
 */
export class LinkSignal extends Error {
  readonly argument: LinkArgument
  readonly at: MountPath
  readonly target: string
  readonly rest: string

  constructor({ argument = 'path', at, target, rest }: LinkSignalOptions) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0 // control flow: the stack has no reader
    super('a symbolic link is in the way')
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'LinkSignal'
    this.argument = argument
    this.at = at
    this.target = target
    this.rest = rest
  }
}
