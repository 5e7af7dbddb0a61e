import { isWorkspaceError } from '@ws/core'
import { LinkSignal } from '@ws/core/adapter'

import { asBreach } from '../errors.ts'
import type { ExecuteContext } from './context.ts'
import { mountPath, readTree } from './tree.ts'
import type { CheckedSource } from '../plan/check.ts'
import type { CheckedStep } from '../plan/checked.ts'
import { Outputs } from '../plan/outputs.ts'
import { createPlanPaths, outputAt, workspaceAt } from '../paths.ts'
import type { PlanProblem } from '../plan/problems.ts'
import type { Plan } from '../plan/schema.ts'

export async function preflight(
  { plan, source, problems: known }: Extract<CheckedSource, { plan: object }>,
  context: ExecuteContext,
  signal?: AbortSignal,
): Promise<PlanProblem[]> {
  const problems: PlanProblem[] = []
  const paths = createPlanPaths(plan, context.place)
  const outputs = new Outputs(plan.steps)
  const report = (
    index: number,
    field: 'inputs' | 'outputs',
    place: number,
    problem: Omit<PlanProblem, 'line' | 'step'>,
  ) => {
    const isWhole = (source.value as Plan).steps[index]?.[field].length === plan.steps[index]?.[field].length
    const line = source.lineOf(['steps', index, field, ...(isWhole ? [place] : [])])
    problems.push({ line, step: plan.steps[index]?.id, ...problem })
  }
  const isMade = (input: string): boolean => {
    const inOutput = paths.inOutput(input)
    // If the plan has other problems, the step that writes the input may be missing.
    return inOutput !== undefined && (known.length > 0 || outputs.writersOf(inOutput).length > 0)
  }
  for (const [index, step] of plan.steps.entries()) {
    signal?.throwIfAborted()
    for (const [place, input] of step.inputs.entries()) {
      if (isMade(input) || (await exists(context, input))) continue
      const path = `${workspaceAt}/${input}`
      const remedy = 'create it, or let a step of the plan write it'
      report(index, 'inputs', place, { code: 'ENOENT', path, reason: `the input \`${path}\` is missing`, remedy })
    }
    for (const place of step.outputs.keys()) {
      const found = await foreignEntry(context, step, place, signal)
      if (found !== undefined) report(index, 'outputs', place, found)
    }
  }
  return problems
}

async function exists({ workspace }: ExecuteContext, input: string): Promise<boolean> {
  try {
    await workspace.stat(mountPath(input))
    return true
  } catch (error) {
    // a link in the path is followed when the step reads, under the step's rules
    if (error instanceof LinkSignal) return true
    if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return false
    throw error
  }
}

async function foreignEntry(
  { output, known, hasher }: ExecuteContext,
  step: CheckedStep,
  place: number,
  signal: AbortSignal | undefined,
): Promise<Omit<PlanProblem, 'line' | 'step'> | undefined> {
  const path = step.outputs[place] ?? ''
  try {
    const entries = await readTree(output, path, hasher, signal)
    const foreign = entries.find((entry) => entry.type !== 'directory' && !known.has(entry))
    if (foreign === undefined) return undefined
    const at = `${outputAt}/${foreign.path}`
    const reason = `the output \`${at}\` exists, with content that no run of a plan wrote there`
    return { code: 'EEXIST', path: at, reason, remedy: 'move it away, or name another output' }
  } catch (error) {
    if (!isWorkspaceError(error, 'ELOOP')) throw asBreach(error)
    const at = `${outputAt}/${path}`
    const reason = `the output \`${at}\` leads through a symbolic link`
    return { code: 'ESECURITY', path: at, reason, remedy: 'replace the link by a directory' }
  }
}
