import type { Owner } from '@ws/core/adapter'
import type { CommandRun, Descriptors, ProcessResult, Reserve, RunningProcess } from '@ws/sandbox'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import type { CommandNetwork } from '../network/named-network.ts'
import type { StartGuard } from '../processes/start-guard.ts'
import type { MountWatch } from './mount-check.ts'

export interface SandboxStart {
  readonly command: SandboxCommand
  readonly owner: Owner
  readonly guard: StartGuard
  /** Watches the mounts, where something is protected. */
  readonly keeper: () => Reserve.NameKeeper
  /** Absent: standard streams are sockets, which cannot be opened by name. */
  readonly pipes?: Descriptors.PipeMaker | undefined
  readonly hasInput?: boolean | undefined
  readonly onStdout?: CommandRun['onStdout'] | undefined
  readonly onStderr?: CommandRun['onStderr'] | undefined
  /** Opens the network of the sandbox, where that is not empty or the host's: its command waits for it. */
  readonly network?: Pick<CommandNetwork, 'open'> | undefined
  /** Default `cover`. */
  readonly onExposure?: 'cover' | 'end' | undefined
  readonly signal?: AbortSignal | undefined
}

/** The process that encloses a command. */
export interface SandboxProcess extends Pick<RunningProcess, 'survivors' | 'stdin'> {
  /** Resolves when it has ended and its streams are read. */
  wait(): Promise<Pick<ProcessResult, 'exitCode' | 'signal' | 'survivors'> & Partial<Pick<ProcessResult, 'stderr'>>>
}

/** A sandbox whose command has been let go. */
export interface Sandbox {
  readonly process: SandboxProcess
  /** Resolves when all of the command's standard error was handed on; that of `process` is bubblewrap's own. */
  readonly errorsRead: Promise<void>
  /** The exit status that the first process reported, once there is one. */
  exitCode(): number | undefined
  /** The command was not started, as there was no process left for it. */
  unstarted(): boolean
  /** Signals the command and what shares its process group. */
  signal(signal: NodeJS.Signals): boolean
  /** Ends everything inside at once. */
  end(): void
  /** Resolves when no process of the sandbox is left. */
  readonly gone: Promise<void>
  readonly watch: MountWatch | undefined
  /** The process is what hides names: only if it ended by itself were all listings right. */
  readonly hides: boolean
}
