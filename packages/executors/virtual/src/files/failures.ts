import { codeOf } from '@ws/shell-tools/files'
import { fileMethods, type WorkspaceAsyncFiles } from './contract.ts'

export interface Failure {
  readonly path: string
  readonly code: string
  /** The rule that refused the operation. */
  readonly rule?: string | undefined
}

/** Limit of failures that are kept. */
const most = 1_000

/** Wraps files to record their failures, except for missing entries. */
export function recordFailures(files: WorkspaceAsyncFiles): {
  readonly recorded: WorkspaceAsyncFiles
  readonly failures: readonly Failure[]
  readonly record: (failure: Failure) => void
  /** Paths with `..` as the script wrote them, for messages. The key is the resolved path. */
  readonly typed: Map<string, string>
} {
  const failures: Failure[] = []
  const typed = new Map<string, string>()
  const record = ({ path, code, rule }: Failure): void => {
    if (code === 'ENOENT') return
    if (failures.length >= most) failures.shift()
    failures.push({ path, code, rule })
    const other = typed.get(path)
    if (other !== undefined) failures.push({ path: other, code, rule })
  }
  const entries = fileMethods.map((method) => {
    const operation: (...parameters: never[]) => Promise<unknown> = files[method]
    const recorded = async (...parameters: unknown[]): Promise<unknown> => {
      try {
        return await operation.apply(files, parameters as never[])
      } catch (error) {
        const [, rule, at] = / by the rule (.+), \w+ '(.*)'$/s.exec(error instanceof Error ? error.message : '') ?? []
        for (const path of parameters)
          if (typeof path === 'string') record({ path, code: codeOf(error), rule: path === at ? rule : undefined })
        throw error
      }
    }
    return [method, recorded]
  })
  return { recorded: Object.fromEntries(entries) as WorkspaceAsyncFiles, failures, record, typed }
}
