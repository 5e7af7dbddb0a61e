import { posix } from 'node:path'

import { WorkspaceError, type CommandResult } from '@ws/core'
import { z } from 'zod'

import { breach } from '../errors.ts'
import { workspaceAt } from '../paths.ts'
import { defineStepType } from './types.ts'

const settings = z.strictObject({
  run: z.string().min(1).describe('A shell command. It starts in `/workspace` and writes below `/output` (`$OUTPUT`).'),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe('The directory it starts in. Default: `/workspace`; `/output` without inputs.'),
  env: z.record(z.string(), z.string()).default({}).describe('Added to the clean environment.'),
  shell: z.string().optional(),
})

/** Runs a shell command in the step's workspace. A non-zero exit code fails the step. */
export const commandStep = defineStepType({
  settings,
  async run({ run, cwd, env, shell }, context) {
    const workspace = await context.workspace()
    const directory = cwd === undefined ? context.startsIn : context.expand(cwd)
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
    const result = await workspace.exec(context.expand(run), {
      // commands start at the root by default, even if a rule closes the root
      cwd: directory === workspaceAt ? undefined : directory,
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, context.expand(value)])),
      shell,
      signal: context.signal,
      onOutput: ({ stream, data }) => context.log(decoders[stream].decode(data, { stream: true })),
    })
    if (result.exitStatus !== 0) throw failed(result, directory)
    return { exitStatus: 0 }
  },
})

const refused = 'permission denied|read-only file system|operation not permitted'
/** A refusal as most programs print it: `cannot create a.txt: Read-only file system`. A lookbehind keeps the search fast on long text. */
const pathBefore = new RegExp(`(?<=(?<path>[^\\s:'"\`]+)['"\`]?: )(?<why>${refused})`, 'iu')
/** A refusal as zsh and Python print it: `zsh:1: read-only file system: a.txt`. */
const pathBehind = new RegExp(`(?<why>${refused}): ['"\`]?(?<path>[^\\s'"\`]+)`, 'iu')

/** The error of a failed command. The kernel reports no refusals, so a refused path in the output is taken as a breach. */
function failed({ exitStatus, stderr, hints = [], violations = [] }: CommandResult, cwd: string): WorkspaceError {
  const { path: name, why } = (pathBehind.exec(stderr) ?? pathBefore.exec(stderr))?.groups ?? {}
  if (name !== undefined) {
    const path = posix.resolve(cwd, name)
    const rule = hints.find((hint) => path === hint.path || path.startsWith(`${hint.path}/`))?.rule ?? 'inputs'
    const isOutside = path.startsWith('/workspace') || why?.toLowerCase() === 'read-only file system'
    const reason = 'was refused to the command'
    const remedy = 'declare it in the inputs or outputs of the step'
    if (isOutside) return breach({ operation: 'exec', path, reason, rule, remedy })
  }
  const refusal = violations.find((violation) => violation.kind === 'refused')
  if (refusal !== undefined) {
    const { rule, host, reason, remedy } = refusal
    return new WorkspaceError({
      code: 'EACCES',
      operation: 'connect',
      rule,
      reason: `the command ended with exit status ${exitStatus}: \`${host}\` ${reason}`,
      remedy,
    })
  }
  const [last = ''] = stderr.trimEnd().split('\n').slice(-1)
  return new WorkspaceError({
    code: 'EIO',
    operation: 'exec',
    reason: `the command ended with exit status ${exitStatus}${last === '' ? '' : `: ${last.slice(0, 300)}`}`,
    remedy: 'read the log of the step',
  })
}
