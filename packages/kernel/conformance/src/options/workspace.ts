import type { Workspace, WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'

/** The executor and the stores that one test of the executor, two-door and security suites works on. */
export interface WorkspaceFixture {
  /** Runs the commands. May be the same for all tests: probes are costly. */
  readonly executor: Executor
  /**
   * An empty, writable store, closed by the kit. For real processes: a directory of the user of commands.
   * Named stores lie beside one another: `t1` and `t12` in one directory.
   */
  readonly createStore: (name: string) => StorageAdapter | Promise<StorageAdapter>
  /** Makes the workspace. Default: `createWorkspace` of the core. */
  readonly open?: ((options: WorkspaceOptions) => Promise<Workspace>) | undefined
  /** The same executor as it is on a machine that lacks what it needs. Its absence skips the tests of that. */
  readonly unavailable?: Executor | undefined
  readonly dispose?: (() => Promise<void>) | undefined
}

export interface WorkspaceSuiteOptions {
  readonly name: string
  readonly create: () => WorkspaceFixture | Promise<WorkspaceFixture>
  /** Where the first mount lies. Default: at `/`, and at `/workspace`. */
  readonly roots?: readonly ('/' | '/workspace')[] | undefined
  /** The POSIX shell that commands of the tests are written for. Default `bash`. */
  readonly shell?: string | undefined
  /**
   * The executor refuses with `EUNENFORCEABLE` commands that it cannot prove. Such a refusal counts as a command that failed with 126.
   * Default false.
   */
  readonly refusesCommands?: boolean | undefined
  /** Promises that the executor admits to break: title and reason. They run, and may fail; to pass, or an unknown title, is an error. */
  readonly departures?: Readonly<Record<string, string>> | undefined
}
