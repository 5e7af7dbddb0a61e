import type { ExtraDescriptors } from '../../run/types.ts'

export interface ResolveShellOptions {
  /** The caller's shell: an absolute path, or a bare name of the POSIX family. Blank means the default. */
  readonly shell?: string | undefined
  /** Where `SHELL` is looked up. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Is this path an executable file, on the side where the shell will run? Default: on this machine. */
  readonly isExecutable?: ((path: string) => boolean) | undefined
  /** Is this path there inside the executor's view? Default: everything is. */
  readonly existsInView?: ((path: string) => boolean) | undefined
}

export interface ShellArgumentsOptions {
  /** Read the login files (`-l`). Default true. */
  readonly login?: boolean | undefined
  /** Read no start-up file of the user's at all, in any shell. Default false. */
  readonly bare?: boolean | undefined
}

export interface ShellInvocation {
  readonly argv: readonly string[]
  /** Descriptors that must reach the shell under these numbers: empty unless the command is over-long. */
  readonly extraFds: ExtraDescriptors
}
