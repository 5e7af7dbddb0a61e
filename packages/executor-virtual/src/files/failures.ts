import { codeOf } from '@ws/shell-tools/files'
import { fileMethods, type WorkspaceAsyncFiles } from './contract.ts'

export interface Failure {
  readonly path: string
  readonly code: string
}

/** Failures that are kept. */
const most = 1_000

/** The same files; their refusals are noted, except for missing entries. */
export function recordFailures(files: WorkspaceAsyncFiles): {
  readonly recorded: WorkspaceAsyncFiles
  readonly failures: readonly Failure[]
  readonly record: (failure: Failure) => void
  /** The text that was typed for a path with a `..`: messages show that text. */
  readonly typed: Map<string, string>
} {
  const failures: Failure[] = []
  const typed = new Map<string, string>()
  const record = ({ path, code }: Failure): void => {
    if (code === 'ENOENT') return
    if (failures.length >= most) failures.shift()
    failures.push({ path, code })
    const other = typed.get(path)
    if (other !== undefined) failures.push({ path: other, code })
  }
  const entries = fileMethods.map((method) => {
    const operation: (...parameters: never[]) => Promise<unknown> = files[method]
    const recorded = async (...parameters: unknown[]): Promise<unknown> => {
      try {
        return await operation.apply(files, parameters as never[])
      } catch (error) {
        for (const path of parameters) if (typeof path === 'string') record({ path, code: codeOf(error) })
        throw error
      }
    }
    return [method, recorded]
  })
  return { recorded: Object.fromEntries(entries) as WorkspaceAsyncFiles, failures, record, typed }
}
