import { execFileSync } from 'node:child_process'

import { expect, it } from 'vitest'

import { isolationChecks } from '../src/checks/isolation.ts'
import { awaitProcesses } from '../src/checks/host/processes.ts'
import { createWorld } from '../src/checks/host/world.ts'
import { ordinaryOwner } from '../src/checks/owner.ts'
import { policyChecks } from '../src/checks/policy.ts'
import { openSite } from '../src/checks/site.ts'
import type { Check, Site } from '../src/checks/types.ts'
import { createNakedExecutor } from './naked-executor.ts'

/** Ids of the checks that fail, each on a project of its own: attacks that get through leave nothing as it was. */
async function failing(checks: readonly Check[]): Promise<string[]> {
  const failed: string[] = []
  for (const check of checks) {
    await using world = await createWorld({ owner: ordinaryOwner() })
    await using site = await openSite({
      name: 'bubblewrap',
      executor: createNakedExecutor(world.project),
      at: '/',
      world,
      signal: new AbortController().signal,
    })
    if (await fails(check, site)) failed.push(check.id)
  }
  return failed
}

async function fails(check: Check, site: Site): Promise<boolean> {
  try {
    await check.run(site)
    return false
  } catch {
    return true
  }
}

it('[PC18] [PC19] [RP6] [RP16] the isolation checks catch an executor that isolates nothing', async () => {
  const reach = ['siblings', 'host-files', 'host-metadata', 'environment', 'processes', 'network', 'sockets']
  const leave = ['survivors-exit', 'survivors-timeout']
  const checks = isolationChecks.filter(({ id }) => [...reach, ...leave].includes(id))
  expect(await failing(checks)).toEqual(checks.map(({ id }) => id))
  expect(checks).toHaveLength(reach.length + leave.length)
  for (const pid of await awaitProcesses('sleep\u000060.', 'none', 0)) execFileSync('kill', ['-9', String(pid)])
})

it('the policy checks catch an executor that holds no rule', async () => {
  // its commands see the project at another place, so only those that name it relatively can do harm
  const ids = ['denied', 'denied-rename', 'denied-links', 'read-only-subtree', 'output-root', 'recursive']
  const relative = (site: Site): Site => ({
    ...site,
    under: async (...rules) => {
      const workspace = await site.under(...rules)
      const exec: typeof workspace.exec = (command, options) =>
        workspace.exec(
          (typeof command === 'string' ? command : '').replaceAll(
            /(?<![\w.])\/(?=two doors|workspace\/two doors)/gu,
            './',
          ),
          options,
        )
      return Object.assign(Object.create(workspace) as typeof workspace, { exec })
    },
  })
  const checks = policyChecks.filter(({ id }) => ids.includes(id))
  const wrapped = checks.map((check): Check => ({ ...check, run: (site) => check.run(relative(site)) }))
  expect(await failing(wrapped)).toEqual(checks.map(({ id }) => id))
})
