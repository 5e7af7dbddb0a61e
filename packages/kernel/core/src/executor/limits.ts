import { limitFields, type CommandLimits, type LimitField, type LimitReport } from '../contract/limits.ts'
import { WorkspaceError } from '../errors.ts'
import { option } from '../options/shapes.ts'
import type { OptionShapes } from '../options/shapes.ts'

export const limitShapes: OptionShapes<CommandLimits> = {
  cpuSeconds: option.integer(1),
  memoryBytes: option.integer(1),
  fileBytes: option.integer(1),
  processes: option.integer(1),
  openFiles: option.integer(1),
  scratchBytes: option.integer(1),
}

export function narrowLimits(first: CommandLimits = {}, second: CommandLimits = {}): CommandLimits {
  const narrowed: { -readonly [Field in LimitField]?: number } = {}
  for (const field of limitFields) {
    const values = [first[field], second[field]].filter((value) => value !== undefined)
    if (values.length > 0) narrowed[field] = Math.min(...values)
  }
  return narrowed
}

/** Refuses limits that the executor does not enforce. @throws WorkspaceError `EUNENFORCEABLE` */
export function requireLimits(
  limits: CommandLimits,
  {
    executor,
    reports,
    operation,
  }: { executor: string; reports: readonly LimitReport[] | undefined; operation: string },
): void {
  for (const field of limitFields) {
    if (limits[field] === undefined) continue
    const report = reports?.find((candidate) => candidate.field === field)
    if (report !== undefined && report.heldBy !== 'none') continue
    const why = report?.note === undefined ? '' : `: ${report.note}`
    throw new WorkspaceError({
      code: 'EUNENFORCEABLE',
      operation,
      reason: `${executor} cannot hold the limit \`${field}\` here${why}`,
      remedy: 'leave it out, or use another executor: `ws doctor` shows which holds what',
    })
  }
}
