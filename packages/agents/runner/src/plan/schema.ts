import { z } from 'zod'

/** Names of steps, groups and runs, which become names of directories. */
export const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const name = z
  .string()
  .regex(namePattern, 'must be 1 to 64 characters `A-Za-z0-9._-`, and begin with a letter or digit')
const path = z.string().min(1).max(4095)
const milliseconds = z.int().min(1).max(2_147_483_647)

const exceptionSchema = z.strictObject({
  path: path.describe('A path of the workspace that the step may write in place. Such a write is not staged.'),
  justification: z.string().trim().min(1).describe('Why the step needs it. Shown in the report.'),
})

export const stepSchema = z.strictObject({
  id: name.describe('Unique in the plan, without regard to case.'),
  type: z.string().min(1).describe('`command`, `tool`, `agent`, or a type that the caller registered.'),
  description: z.string().optional(),
  with: z.record(z.string(), z.json()).default({}).describe('The settings of the type.'),
  inputs: z.array(path).default([]).describe('Files and directories of the workspace. The step reads nothing else.'),
  outputs: z.array(path).default([]).describe('Files and directories of the output. The step writes nothing else.'),
  hosts: z
    .array(z.string())
    .optional()
    .describe(
      'Hosts that the commands of the step may reach, of those that the executor lists. Default: all of these.',
    ),
  needs: z.array(name).default([]).describe('Steps that must be finished first. Writers of inputs are added.'),
  retry: z
    .strictObject({
      attempts: z.int().min(1).max(100).default(1),
      delay: z.int().min(0).max(86_400_000).default(0).describe('Milliseconds before each further attempt.'),
    })
    .default({ attempts: 1, delay: 0 }),
  timeout: milliseconds.optional().describe('Milliseconds for one attempt. Default: no limit.'),
  group: name.optional().describe('A concurrency group of the plan.'),
  exceptions: z.array(exceptionSchema).default([]).describe('Parts of the workspace that the step may write.'),
})

const templates = z.strictObject({
  app_path: path.optional(),
  project_path: path.optional(),
  prompt_path: path.optional(),
})

export const planSchema = z.strictObject({
  version: z.literal(1).describe('The version of this format.'),
  name: z.string().max(200).default('plan'),
  templates: templates
    .default({})
    .describe('Paths of the workspace for `{app_path}`, `{project_path}`, `{prompt_path}`.'),
  concurrency: z.int().min(1).max(256).default(4).describe('Steps at the same time.'),
  groups: z.record(name, z.int().min(1).max(256)).default({}).describe('Steps of one group at the same time.'),
  onFailure: z
    .enum(['stop', 'continue'])
    .default('stop')
    .describe('After a failed step: start no further step, or go on.'),
  onBreach: z.enum(['stop', 'continue']).default('stop').describe('The same after a step that breached its limits.'),
  steps: z.array(stepSchema).min(1).max(10_000),
})

/** A checked plan with every default filled in. Paths stay in the form that the author wrote. */
export type Plan = z.output<typeof planSchema>
export type Step = z.output<typeof stepSchema>
