import type { Workspace, WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'

/** The executor and the stores that one test of the executor, two-door and security suites works on. */
export interface WorkspaceFixture {
  /** Runs the commands. May be the same for all tests: probes are costly. */
  readonly executor: Executor
  /**
   * An empty, writable store of its own, which the kit closes. For an executor of real processes: a directory on this
   * machine, which belongs to the user that commands run as. Stores with different names lie beside one another where
   * there is a beside: `t1` and `t12` in one directory.
   */
  readonly createStore: (name: string) => StorageAdapter | Promise<StorageAdapter>
  /** Makes the workspace. Default: `createWorkspace` of the core. */
  readonly open?: ((options: WorkspaceOptions) => Promise<Workspace>) | undefined
  /** The same executor as it is on a machine that lacks what it needs. Its absence skips the tests of that. */
  readonly unavailable?: Executor | undefined
  /** Called last. */
  readonly dispose?: (() => Promise<void>) | undefined
}

export interface WorkspaceSuiteOptions {
  /** For titles: `bubblewrap`, `virtual on memory`. */
  readonly name: string
  /** Called once for each test. */
  readonly create: () => WorkspaceFixture | Promise<WorkspaceFixture>
  /** Where the first mount lies. Default: at `/`, and at `/workspace`. */
  readonly roots?: readonly ('/' | '/workspace')[] | undefined
  /** The POSIX shell that commands of the tests are written for. Default `bash`. */
  readonly shell?: string | undefined
  /**
   * The executor reads commands before it runs them, and refuses with `EUNENFORCEABLE` those that it cannot prove. A
   * refusal that names no rule counts as a command that failed with 126 and said nothing but the reason. Default false.
   */
  readonly refusesCommands?: boolean | undefined
  /**
   * Promises that the executor does not keep, and says so: title of the test, and why. Each is run all the same, and skipped
   * with the reason when it fails; it is an error that it passes, or that no test has the title.
   */
  readonly departures?: Readonly<Record<string, string>> | undefined
}
