import type { Stat } from '../contract/file-types.ts'
import { isWorkspaceError } from '../errors.ts'
import type { Workspace } from '../contract/workspace.ts'
import { type PathArgument, pathOf } from './arguments.ts'
import { explain, nodeError, type Syscall } from './errors.ts'

export class Caller {
  readonly workspace: Workspace

  constructor(workspace: Workspace) {
    this.workspace = workspace
  }

  async stat(path: string): Promise<Stat> {
    return await this.workspace.stat(path, { followLinks: true })
  }

  /** Returns `undefined` for a missing entry or a dangling link. */
  async statIf(path: string): Promise<Stat | undefined> {
    try {
      return await this.stat(path)
    } catch (error) {
      if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return undefined
      throw error
    }
  }

  async call<Result>(
    syscall: string,
    given: PathArgument,
    work: (path: string, call: Syscall) => Promise<Result>,
  ): Promise<Result> {
    const path = pathOf(given, syscall)
    const call = { syscall, path }
    return await this.run(call, async () => {
      // a slash at the end requires a directory
      if (/[^/]\/+$/u.test(path) && (await this.statIf(path))?.type === 'file') throw nodeError('ENOTDIR', call)
      return await work(path, call)
    })
  }

  async callBoth<Result>(
    syscall: string,
    from: PathArgument,
    to: PathArgument,
    work: (source: string, destination: string, call: Syscall) => Promise<Result>,
  ): Promise<Result> {
    const call = { syscall, path: pathOf(from, syscall), dest: pathOf(to, syscall) }
    return await this.run(call, async () => await work(call.path, call.dest, call))
  }

  async run<Result>(call: Syscall, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw explain(error, call)
    }
  }
}
