import { guaranteeFields, isPreset } from '../contract/guarantees.ts'
import type { GuaranteeLevel } from '../contract/guarantees.ts'
import { checkOptions } from '../options/check.ts'
import { hasMethods, option } from '../options/shapes.ts'
import type { OptionShape, OptionShapes } from '../options/shapes.ts'
import { checkRules, rulesShape } from '../policy/check-rules.ts'
import { virtualError } from '../mount/errors.ts'
import { labelsShape } from './labels.ts'
import { commandDefaultShapes } from '../calls/method-options.ts'
import type { MountOptions, WorkspaceOptions } from '../contract/workspace.ts'

const operation = 'createWorkspace'

const mount = option.options<MountOptions>({
  at: option.required(option.string),
  adapter: option.required(
    option.of(
      'a storage adapter, or a function that makes one',
      (value) => typeof value === 'function' || hasMethods(value, 'stat', 'list', 'close'),
    ),
  ),
  access: option.oneOf('read-write', 'read-only'),
})

const level = option.oneOf(...(['kernel', 'interpreter', 'translated', 'names', 'none'] satisfies GuaranteeLevel[]))
const require: OptionShape = {
  must: '`untrusted`, `untrusted-by-name`, or an object of guarantees',
  accepts: (value) => isPreset(value) || option.object.accepts(value),
  options: Object.fromEntries(guaranteeFields.map((field) => [field, level])) satisfies Record<string, OptionShape>,
}

const shapes: OptionShapes<WorkspaceOptions> = {
  mounts: {
    must: 'a list of at least one mount, such as `[{ at: "/", adapter }]`',
    accepts: (value) => Array.isArray(value) && value.length > 0,
    required: true,
    element: mount,
  },
  rules: rulesShape,
  policy: option.of('a policy with `decide` and `subtreeRules`', (value) =>
    hasMethods(value, 'decide', 'subtreeRules'),
  ),
  executors: option.list(
    option.of('an executor, such as `createBubblewrapExecutor()` makes', (value) =>
      hasMethods(value, 'probe', 'attach'),
    ),
    'a list of executors',
  ),
  require,
  aliases: option.map(option.string, option.string),
  scratch: option.boolean,
  labels: labelsShape,
  commands: option.options(commandDefaultShapes),
  checkpoints: option.of('an engine, such as `createCheckpoints({ stateDirectory })` makes', (value) =>
    hasMethods(value, 'attach'),
  ),
  now: option.function,
  random: option.function,
  signal: option.signal,
}

export function checkWorkspaceOptions(options: unknown): asserts options is WorkspaceOptions {
  checkOptions<WorkspaceOptions>(options, shapes, { operation })
  if (options?.rules === undefined) return
  checkRules(options.rules)
  if (options.policy === undefined) return
  throw virtualError({
    code: 'EINVAL',
    operation,
    reason: 'both `rules` and `policy` are given',
    remedy: 'pass one of them',
  })
}
