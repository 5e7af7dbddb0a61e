import { type AsyncFiles, fileMethods } from './contract.ts'
import { codeOf } from './errors.ts'

export interface Failure {
  readonly path: string
  readonly code: string
}

/** Failures that are kept. */
const most = 1_000

/** The same files; what they refuse is noted, but for what was not there. */
export function recordFailures(files: AsyncFiles): {
  readonly recorded: AsyncFiles
  readonly failures: readonly Failure[]
  readonly record: (failure: Failure) => void
} {
  const failures: Failure[] = []
  const record = (failure: Failure): void => {
    if (failure.code !== 'ENOENT' && failures.length < most) failures.push(failure)
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
  return { recorded: Object.fromEntries(entries) as AsyncFiles, failures, record }
}
