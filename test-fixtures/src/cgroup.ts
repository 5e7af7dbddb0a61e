import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { describe } from 'vitest'

import { type Component, component } from './components.ts'
import { describeWith } from './skip.ts'

export interface TestCgroup extends AsyncDisposable {
  /** Host path of the group. */
  readonly path: string
  below(): string[]
  /** Processes of the named group below this group; without a name, of this group. */
  members(name?: string): number[]
}

/** Makes a control group for a test. Needs the component `cgroup2`. */
export function createTestCgroup(): TestCgroup {
  const mount = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((line) => line.includes(' - cgroup2 '))
  const at = mount?.split(' ')[4]
  const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  if (at === undefined || own === undefined) throw new Error('there is no cgroup v2 file system')
  const path = join(at, own, `ws-test-${randomUUID()}`)
  mkdirSync(path)
  const below = () =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
  return {
    path,
    below,
    members: (name = '') =>
      readFileSync(join(path, name, 'cgroup.procs'), 'latin1')
        .split('\n')
        .filter((line) => line !== '')
        .map(Number),
    async [Symbol.asyncDispose]() {
      writeFileSync(join(path, 'cgroup.kill'), '1')
      for (const group of [...below().map((name) => join(path, name)), path]) {
        for (let attempt = 0; ; attempt++) {
          try {
            rmdirSync(group)
            break
          } catch (error) {
            if (attempt > 200) throw error
            await delay(10)
          }
        }
      }
    },
  }
}

interface GroupMaker<Limits, Options, Group> {
  make(limits: Limits, options: Options): Group
}

/** Makes groups without controllers, and records requested limits in `asked`. `own` replaces parts of each group. */
export function recordGroups<Limits, Options extends object, Group>(
  real: GroupMaker<Limits, Options, Group>,
  noLimits: Limits,
  own: Partial<Group>,
) {
  const asked: ({ readonly limits: Limits } & Options)[] = []
  const delegated: GroupMaker<Limits, Options, Group> = {
    make(limits, options) {
      asked.push({ limits, ...options })
      return { ...real.make(noLimits, options), ...own }
    },
  }
  return { delegated, asked }
}

/** Like `describeWith`. Control groups cannot be installed, so a skip is not a missing component. */
export function describeWithCgroup(
  needed: readonly Component[],
  title: string,
  ...rest: Parameters<typeof describeWith> extends [unknown, unknown, ...infer Rest] ? Rest : never
): void {
  if (component('cgroup2').available) describeWith(needed, title, ...rest)
  else describe.skip(`${title} (no cgroup v2 group can be made here)`, rest.at(-1) as () => void)
}
