import type { Workspace, WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'

export interface WorkspaceFixture {
  /** The executor of the commands. All tests may share one executor: probes are costly. */
  readonly executor: Executor
  /**
   * An empty, writable store, which the kit closes. For real processes: a directory of the user of commands. Stores are siblings in one
   * directory, such as `t1` and `t12`.
   */
  readonly createStore: (name: string) => StorageAdapter | Promise<StorageAdapter>
  /** Opens the workspaces. Default: `createWorkspace` of the core. */
  readonly open?: ((options: WorkspaceOptions) => Promise<Workspace>) | undefined
  /** An executor on a machine without its programs or kernel features. Absent: tests of an unavailable executor are skipped. */
  readonly unavailable?: Executor | undefined
  readonly dispose?: (() => Promise<void>) | undefined
}

export interface WorkspaceSuiteOptions {
  readonly name: string
  readonly create: () => WorkspaceFixture | Promise<WorkspaceFixture>
  /** Paths of the first mount, each tested in turn. Default: `/` and `/workspace`. */
  readonly roots?: readonly ('/' | '/workspace')[] | undefined
  /** The POSIX shell of the tests' commands. Default `bash`. */
  readonly shell?: string | undefined
  /** The executor refuses commands that it cannot prove safe. A refusal counts as exit code 126. Default false. */
  readonly refusesCommands?: boolean | undefined
  /** Admitted departures from the contract: test title and reason. These tests run; a passing test or an unknown title is an error. */
  readonly departures?: Readonly<Record<string, string>> | undefined
}
