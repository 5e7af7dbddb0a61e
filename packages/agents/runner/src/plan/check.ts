import { isWorkspaceError } from '@ws/core'
import { hostLists } from '@ws/core/executor'
import type { z } from 'zod'

import type { StepTypes } from '../types/types.ts'
import type { CheckedPlan, CheckedStep } from './checked.ts'
import { findCycle } from './graph.ts'
import { Outputs } from './outputs.ts'
import { containsPath, createPlanPaths, foldPath, type OutputPlace, type PlanPaths } from '../paths.ts'
import type { PlanProblem } from './problems.ts'
import { unknownType, withoutFaults } from './repair.ts'
import { planSchema, type Plan, type Step } from './schema.ts'
import { readSource, type PlanSource } from './source.ts'

export interface CheckPlanOptions {
  readonly types: StepTypes
  readonly output: OutputPlace
}

/** Limit of inputs that other steps write. A check of 5,000 steps that each read the outputs of 5,000 steps takes 8 s. */
const maxLinks = 1_000_000
const maxReason = 500

/** The plan can run if `problems` is empty. A faulty plan keeps its readable part, unless that part would cause false problems. */
export type CheckedSource =
  | { readonly plan: CheckedPlan; readonly source: PlanSource; readonly problems: readonly PlanProblem[] }
  | { readonly problems: readonly PlanProblem[]; readonly plan?: undefined }

/** Checks syntax, names, paths, types, writers and cycles without touching a file. @param given YAML, JSON or data */
export function checkPlan(given: unknown, options: CheckPlanOptions): CheckedSource {
  const source = readSource(given)
  if (!('value' in source)) {
    return { problems: [{ code: 'EINVAL', ...source, remedy: 'correct the plan at this line' }] }
  }
  const parsed = planSchema.safeParse(source.value)
  const problems = parsed.success ? [] : shapeProblems(parsed.error, source, [])
  const rest = parsed.success ? parsed : planSchema.safeParse(withoutFaults(source.value, parsed.error))
  if (!rest.success) return { problems }
  const checker = new Checker(rest.data, source, options)
  const plan = checker.check()
  return { plan, source, problems: [...problems, ...checker.problems] }
}

class Checker {
  readonly problems: PlanProblem[] = []
  readonly #plan: Plan
  readonly #source: PlanSource
  readonly #output: OutputPlace
  readonly #paths: PlanPaths
  readonly #types: StepTypes
  #links = 0

  constructor(plan: Plan, source: PlanSource, { types, output }: CheckPlanOptions) {
    this.#plan = plan
    this.#source = source
    this.#output = output
    this.#paths = createPlanPaths(plan, output)
    this.#types = types
  }

  check(): CheckedPlan {
    this.#checkIds()
    const steps = this.#plan.steps.map((step, index) => this.#checkStep(step, index))
    const outputs = new Outputs(steps)
    for (const { first, second } of outputs.overlaps) {
      const reason = `\`${shown(second.output)}\` is also written by step \`${first.step.id}\`, as \`${shown(first.output)}\``
      this.#report(steps.indexOf(second.step), ['outputs', second.index], reason, 'let one step write it')
    }
    const linked = steps.map((step, index) => this.#addWriters(step, index, outputs))
    const cycle = findCycle(linked)
    if (cycle !== undefined) {
      const index = linked.findIndex(({ id }) => id === cycle[0])
      const text = [...cycle, cycle[0]].map((id) => `\`${id}\``).join(' needs ')
      this.#report(index, ['needs'], `the steps need one another: ${text}`, 'take one of these needs or inputs away')
    }
    return { ...this.#plan, steps: linked }
  }

  #checkIds(): void {
    const seen = new Map<string, string>()
    for (const [index, { id }] of this.#plan.steps.entries()) {
      const other = seen.get(id.toLowerCase())
      if (other !== undefined)
        this.#report(index, ['id'], `the id is taken by step \`${other}\``, 'give each step its own id')
      seen.set(id.toLowerCase(), id)
    }
    for (const [index, { needs, group }] of this.#plan.steps.entries()) {
      for (const [place, need] of needs.entries()) {
        if (seen.get(need.toLowerCase()) === need) continue
        this.#report(
          index,
          ['needs', place],
          `\`needs\` names \`${need}\`, which is not a step`,
          'name a step of this plan',
        )
      }
      if (group === undefined || Object.hasOwn(this.#plan.groups, group)) continue
      this.#report(index, ['group'], `\`${group}\` is not one of the plan's \`groups\``, 'add it to `groups`')
    }
  }

  #checkStep(step: Step, index: number): CheckedStep {
    const resolve = (field: 'inputs' | 'outputs', door: (path: string) => string): string[] =>
      step[field].flatMap((path, place) => this.#guard(index, [field, place], () => door(path)) ?? [])
    const inputs = resolve('inputs', this.#paths.read)
    const outputs = resolve('outputs', this.#paths.write)
    const exceptions = step.exceptions.flatMap(({ path, justification }, place) => {
      const where = ['exceptions', place, 'path']
      const resolved = this.#guard(index, where, () => this.#paths.read(path))
      if (resolved === undefined) return []
      if (resolved === '' || this.#touchesOutput(resolved)) {
        this.#report(
          index,
          where,
          `\`${shown(resolved)}\` would open the workspace's root or the output`,
          'name a smaller part',
        )
      }
      return { path: resolved, justification }
    })
    this.#guard(index, ['hosts'], () => hostLists.read(step.hosts ?? [], { operation: 'checkPlan', option: 'hosts' }))
    this.#checkSettings(step, index)
    return { ...step, inputs, outputs, exceptions }
  }

  #touchesOutput(path: string): boolean {
    const folded = foldPath(path)
    const output = this.#output.inWorkspace === undefined ? undefined : foldPath(this.#output.inWorkspace)
    return output !== undefined && (containsPath(output, folded) || containsPath(folded, output))
  }

  #checkSettings({ type, with: settings }: Step, index: number): void {
    if (type === unknownType) return
    const known = Object.hasOwn(this.#types, type) ? this.#types[type] : undefined
    if (known === undefined) {
      const names = Object.keys(this.#types).map((name) => `\`${name}\``)
      this.#report(
        index,
        ['type'],
        `\`${type}\` is not a type of step`,
        `use one of ${names.join(', ')}, or register it`,
      )
      return
    }
    const parsed = known.settings.safeParse(settings)
    if (!parsed.success) {
      const prefix = ['steps', index, 'with']
      this.problems.push(
        ...shapeProblems(parsed.error as z.ZodError, this.#source, prefix, this.#plan.steps[index]?.id),
      )
    }
  }

  #addWriters(step: CheckedStep, index: number, outputs: Outputs): CheckedStep {
    const needs = new Set(step.needs)
    for (const input of new Set(step.inputs)) {
      const inOutput = this.#paths.inOutput(input)
      if (inOutput === undefined || this.#links > maxLinks) continue
      const writers = outputs.writersOf(inOutput)
      this.#links += writers.length
      for (const { id } of writers) needs.add(id)
      if (this.#links <= maxLinks) continue
      const reason = `\`inputs\`: the inputs up to here contain more than ${maxLinks} outputs of steps, counted for each step`
      this.#report(index, ['inputs'], reason, 'name smaller parts of the output')
    }
    return { ...step, needs: [...needs] }
  }

  #guard<Result>(index: number, where: readonly PropertyKey[], resolve: () => Result): Result | undefined {
    try {
      return resolve()
    } catch (error) {
      if (!isWorkspaceError(error)) throw error
      const { code, path, reason, remedy = 'correct the path' } = error
      const full = path === undefined ? reason : `\`${path}\` ${reason}`
      this.#report(index, where, full, remedy, code)
      return undefined
    }
  }

  #report(
    index: number,
    where: readonly PropertyKey[],
    reason: string,
    remedy: string,
    code: PlanProblem['code'] = 'EINVAL',
  ): void {
    const line = this.#source.lineOf(['steps', index, ...where])
    this.problems.push({ code, line, step: this.#plan.steps[index]?.id, reason: cut(reason), remedy })
  }
}

function shapeProblems(
  error: z.ZodError,
  source: PlanSource,
  prefix: readonly PropertyKey[],
  step?: string,
): PlanProblem[] {
  return error.issues.map((issue) => {
    const path = [...prefix, ...issue.path]
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
    const line = source.lineOf(unknown === undefined ? path : [...path, unknown])
    const reason = `\`${path.map(String).join('.') || 'the plan'}\`: ${issue.message.replace(/\.$/u, '')}`
    return { code: 'EINVAL', line, step: step ?? idOf(source.value, path), reason: cut(reason), remedy: 'correct it' }
  })
}

function idOf(value: unknown, [steps, index]: readonly PropertyKey[]): string | undefined {
  if (steps !== 'steps' || typeof index !== 'number') return undefined
  const list = (value as { readonly steps?: readonly { readonly id?: unknown }[] } | null)?.steps
  const id = list?.[index]?.id
  return typeof id === 'string' ? id.slice(0, 64) : undefined
}

const cut = (reason: string): string =>
  reason.length > maxReason ? `${reason.slice(0, maxReason).toWellFormed()}…` : reason

const shown = (path: string): string => (path === '' ? '.' : path)
