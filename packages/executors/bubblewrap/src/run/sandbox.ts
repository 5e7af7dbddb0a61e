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
  readonly keeper: () => Reserve.NameKeeper
  /** Absent: standard streams are sockets, which programs cannot open by name. */
  readonly pipes?: Descriptors.PipeMaker | undefined
  readonly hasInput?: boolean | undefined
  readonly onStdout?: CommandRun['onStdout'] | undefined
  readonly onStderr?: CommandRun['onStderr'] | undefined
  readonly network?: Pick<CommandNetwork, 'open'> | undefined
  /** Default `cover`. */
  readonly onExposure?: 'cover' | 'end' | undefined
  readonly signal?: AbortSignal | undefined
}

/** The process around a command. */
export interface SandboxProcess extends Pick<RunningProcess, 'survivors' | 'stdin'> {
  wait(): Promise<Pick<ProcessResult, 'exitCode' | 'signal' | 'survivors'> & Partial<Pick<ProcessResult, 'stderr'>>>
}

/** A sandbox whose command is running. */
export interface Sandbox {
  readonly process: SandboxProcess
  /** Resolves when the whole standard error of the command was passed on. The standard error of `process` is bubblewrap's own. */
  readonly errorsRead: Promise<void>
  /** The exit status reported by the first process, if any. */
  exitCode(): number | undefined
  /** True if the command could not get a process. */
  unstarted(): boolean
  /** Signals the command's process group. */
  signal(signal: NodeJS.Signals): boolean
  /** Ends all processes in the sandbox immediately. */
  end(): void
  readonly gone: Promise<void>
  readonly watch: MountWatch | undefined
  /** True if `process` hides names. Listings were then right only if no signal ended `process`. */
  readonly hides: boolean
}
