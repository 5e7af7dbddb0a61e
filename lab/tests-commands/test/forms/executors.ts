import type { Executor } from '@ws/core/executor'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'
import type { ComponentName } from '@ws/test-fixtures'

import { doors } from '../doors/site.ts'

export interface ExecutorForm {
  readonly name: string
  readonly root: '/' | '/workspace'
  readonly components: readonly ComponentName[]
  create(): Executor
}

/** Those that run real programs in a view. */
export const views: readonly ExecutorForm[] = doors

/** Every executor there is. */
export const everywhere: readonly ExecutorForm[] = [
  ...views,
  {
    name: 'sanitize at /workspace',
    root: '/workspace',
    components: ['perl'],
    create: () => createSanitizeExecutor({ trustPrograms: 'all' }),
  },
  { name: 'virtual at /workspace', root: '/workspace', components: [], create: () => createVirtualExecutor() },
]
