import type { Workspace, WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'

export interface WorkspaceFixture {
  /** The executor of the commands. All tests may share one executor, because probes are slow. */
  readonly executor: Executor
  /**
   * An empty, writable store, which the kit closes. If commands are real processes, their user must own the store's directory.
   * All stores must lie in one directory, under names such as `t1` and `t12`.
   */
  readonly createStore: (name: string) => StorageAdapter | Promise<StorageAdapter>
  /** Opens the workspaces. Default: `createWorkspace` of the core. */
  readonly open?: ((options: WorkspaceOptions) => Promise<Workspace>) | undefined
  /** For the root `own`: the host path of the first store `t1`. */
  readonly root?: string | undefined
  /** An executor without the programs or kernel features that it needs. Absent: tests of an unavailable executor are skipped. */
  readonly unavailable?: Executor | undefined
  readonly dispose?: (() => Promise<void>) | undefined
}

export type SuiteRoot = '/' | '/workspace' | 'own'

export interface WorkspaceSuiteOptions {
  readonly name: string
  readonly create: () => WorkspaceFixture | Promise<WorkspaceFixture>
  /**
   * Paths of the first mount. Every test runs for each. `own`: the path of its store on this machine, for executors that show directories
   * only there; tests with a mount inside another are skipped. Default: `/` and `/workspace`.
   */
  readonly roots?: readonly SuiteRoot[] | undefined
  /** The POSIX shell of the tests' commands. Default `bash`. */
  readonly shell?: string | undefined
  /** True if the executor refuses commands that it cannot prove safe. A refusal counts as exit code 126. Default false. */
  readonly refusesCommands?: boolean | undefined
  /** Known departures from the contract: test title and reason. These tests must fail; a passing test or an unknown title is an error. */
  readonly departures?: Readonly<Record<string, string>> | undefined
}
