import { WorkspaceError } from '@ws/core'
import type { BindPlan, HostPath } from '@ws/core/executor'
import { lstatSync, realpathSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { changeExecutor, changePlan, type ExecutorFault } from './executor-fault.ts'

/** Resolves links in the sources of binds, like a program that opens paths and follows links. */
function followed(plan: BindPlan): BindPlan {
  const binds = plan.binds.map((bind) =>
    bind.source === undefined ? bind : { ...bind, source: realpathSync(bind.source) as HostPath },
  )
  return { ...plan, binds }
}

export const bindFaults: readonly ExecutorFault[] = [
  {
    name: 'binds by name, and follows links',
    caughtBy: 'fileContent: shows nothing outside, where it is the mount',
    base: 'process',
    apply: (inner) => changePlan(inner, followed),
  },
  {
    name: 'looks for links first, and binds by name afterwards',
    caughtBy: 'fileContent: shows nothing outside, where it is the mount',
    base: 'process',
    apply: (inner) =>
      changeExecutor(inner, {
        attached: ({ spawn }) => ({
          async spawn(request, plan) {
            if (plan.binds.some(({ source }) => source !== undefined && lstatSync(source).isSymbolicLink()))
              throw new WorkspaceError({ code: 'EBUSY', operation: 'exec', reason: 'a directory is a link' })
            await delay(5)
            return spawn(request, followed(plan))
          },
        }),
      }),
  },
]
