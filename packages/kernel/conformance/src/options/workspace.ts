import type { Workspace, WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'

export interface WorkspaceFixture {
  /** Runs the commands. May be the same for all tests: probes are costly. */
  readonly executor: Executor
  /**
   * An empty, writable store, closed by the kit. For real processes: a directory of the user of commands.
   * Named stores lie beside one another: `t1` and `t12` in one directory.
   */
  readonly createStore: (name: string) => StorageAdapter | Promise<StorageAdapter>
  /** Default: `createWorkspace` of the core. */
  readonly open?: ((options: WorkspaceOptions) => Promise<Workspace>) | undefined
  /** The executor on a machine that lacks what it needs. Absent: those tests are skipped. */
  readonly unavailable?: Executor | undefined
  readonly dispose?: (() => Promise<void>) | undefined
}

export interface WorkspaceSuiteOptions {
  readonly name: string
  readonly create: () => WorkspaceFixture | Promise<WorkspaceFixture>
  /** Where the first mount lies. Default: at `/`, and at `/workspace`. */
  readonly roots?: readonly ('/' | '/workspace')[] | undefined
  /** The POSIX shell of the tests' commands. Default `bash`. */
  readonly shell?: string | undefined
  /** The executor refuses commands that it cannot prove; a refusal counts as a failure with 126. Default false. */
  readonly refusesCommands?: boolean | undefined
  /** Promises that the executor admits to break: title and reason. They run, and may fail; to pass, or an unknown title, is an error. */
  readonly departures?: Readonly<Record<string, string>> | undefined
}
