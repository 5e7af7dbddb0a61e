import { isPreset } from '@ws/core/executor'
import { checkOptions, hasMethods, option, type OptionShapes } from '@ws/core/options'

import { checkId } from './layout/ids.ts'
import type { OpenThreadOptions, ThreadsOptions } from './types.ts'
import type { ThreadTemplate } from './provision/types.ts'

const shapes: OptionShapes<ThreadsOptions> = {
  store: option.required(
    option.of(
      'a storage adapter, or a function that makes one',
      (value) => typeof value === 'function' || hasMethods(value, 'stat', 'list', 'close'),
    ),
  ),
  replica: option.function,
  at: option.of('an absolute path such as `/workspace`', (value) => typeof value === 'string' && value.startsWith('/')),
  layout: option.object,
  executors: option.list(
    option.of('an executor', (value) => hasMethods(value, 'probe', 'attach')),
    'a list of executors',
  ),
  require: option.of(
    '`untrusted`, `untrusted-by-name`, or an object of guarantees',
    (value) => isPreset(value) || option.object.accepts(value),
  ),
  rules: option.of('a list of rules', Array.isArray),
  commands: option.object,
  leases: option.of(
    'a lease store, or `none`',
    (value) => value === 'none' || hasMethods(value, 'acquire', 'holder', 'close'),
  ),
  template: option.options<ThreadTemplate>({
    files: option.adapter,
    mode: option.oneOf('extend', 'replace'),
  }),
  checkpoints: option.of('a checkpoint engine, such as `createCheckpoints` makes', (value) =>
    hasMethods(value, 'attach'),
  ),
  provision: option.boolean,
  idleTimeout: option.integer(0, 2 ** 31 - 1),
  maxOpen: option.integer(1, 10_000),
  onState: option.function,
  audit: option.function,
  onProvision: option.function,
}

const openShapes: OptionShapes<OpenThreadOptions> = {
  threadId: option.of('an id', () => true),
  userId: option.of('an id', () => true),
  ticketId: option.of('an id', () => true),
  wait: option.of(option.duration.must, (value) => value === 0 || option.duration.accepts(value)),
  signal: option.signal,
}

export function checkThreadsOptions(options: unknown): asserts options is ThreadsOptions {
  checkOptions<ThreadsOptions>(options, shapes, { operation: 'createThreads' })
}

export function checkOpenOptions(options: OpenThreadOptions): OpenThreadOptions {
  const operation = 'openThread'
  checkOptions<OpenThreadOptions>(options, openShapes, { operation })
  checkId(operation, 'thread', options.threadId)
  checkId(operation, 'user', options.userId)
  if (options.ticketId !== undefined) checkId(operation, 'ticket', options.ticketId)
  return options
}
