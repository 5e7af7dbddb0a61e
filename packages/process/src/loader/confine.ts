import type { LandlockPolicy } from '../landlock/types.ts'
import type { ExtraDescriptors, LoaderStatus } from '../run/types.ts'

export interface ConfineOptions {
  /** The command. `argv[0]` is an absolute path. */
  readonly argv: readonly string[]
  /** Its whole environment. The loader itself runs without any. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly landlock?: LandlockPolicy | undefined
  /** From {@link sandboxProgram} or {@link prootProgram}. */
  readonly seccomp?: Uint8Array | undefined
  /** As root: the uid and gid that the command runs as. A supervisor keeps root, so that the command cannot end it. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined
  /** Stay as its parent and end every descendant when it ends, or when this process dies. Default false. */
  readonly supervise?: boolean | undefined
  /** With `supervise`: milliseconds between TERM and KILL. Default 500. */
  readonly killGraceMs?: number | undefined
  /** Without `supervise`: let the command be killed when the thread that starts it ends. Default false. */
  readonly dieWithParent?: boolean | undefined
  /** Descriptors of the command beyond 0–2. Every other one is closed. */
  readonly extraFds?: ExtraDescriptors | undefined
}

/** What {@link startProcess} needs to start the loader: spread it into its options. */
export interface ConfinedCommand {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly extraFds: ExtraDescriptors
  readonly status: LoaderStatus
}

/**
 * Wraps a command into the loader: closes descriptors, drops the uid, sets no-new-privs, applies Landlock and seccomp,
 * supervises. If any step fails, the command never runs and `wait()` rejects with `ENOEXEC`.
 *
 * Start it with `startProcess({ ...confineArgv(…), … })`, once, and at once: it holds a descriptor until the run ends.
 *
 * @throws WorkspaceError `EINVAL` for arguments without meaning, `ENOTSUP` where there is no perl or no table for this
 * architecture.
 */
export function confineArgv(_options: ConfineOptions): ConfinedCommand {
  throw new Error('not written yet')
}
