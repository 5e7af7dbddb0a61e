import { createWorkspace, type MountOptions, type Rule, type WorkspaceOptions } from '@ws/core'
import type { Executor } from '@ws/core/executor'

import type { ExecutorName } from '../config/executors.ts'
import type { World } from './host/world.ts'
import type { MountPoint, Site } from './types.ts'

export interface SiteOptions {
  readonly name: ExecutorName
  readonly executor: Executor
  readonly at: MountPoint
  readonly world: World
  readonly signal: AbortSignal
}

/** Where the read-only skills are mounted, below the workspace's root. */
export const skillsPath = '/.solven/skills/system'

/** Opens a world as a workspace for one executor; everything that the checks open in it is closed with it. */
export async function openSite({ name, executor, at, world, signal }: SiteOptions): Promise<Site & AsyncDisposable> {
  await using cleanup = new AsyncDisposableStack()
  const { owner } = world
  const path = (relative: string) => (at === '/' ? relative : relative === '/' ? at : at + relative)
  const project: MountOptions = { at, adapter: () => world.stored.project.open() }
  const skills: MountOptions = {
    at: path(skillsPath),
    adapter: () => world.stored.skills.open(),
    access: 'read-only',
  }
  const open = async (options: Omit<WorkspaceOptions, 'executors'>) =>
    await createWorkspace({ ...options, executors: [executor], signal })

  const workspace = cleanup.use(await open({ mounts: [project, skills] }))
  const { unenforceable = [] } = await workspace.explain({ operation: 'exec', path: at })
  const acknowledge = unenforceable.map(({ rule }) => rule)
  const opened = new Map<string, ReturnType<typeof open>>()
  const under = (...rules: readonly Rule[]) => {
    const key = JSON.stringify(rules)
    const known = opened.get(key) ?? open({ mounts: [project], rules })
    opened.set(key, known)
    return known
  }
  cleanup.defer(async () => {
    for (const one of await Promise.allSettled(opened.values())) if (one.status === 'fulfilled') await one.value.close()
  })

  const kept = cleanup.move()
  return {
    executor: name,
    at,
    guarantees: workspace.executor?.guarantees ?? (await executor.probe({ root: workspace.root, owner })).guarantees,
    world,
    signal,
    workspace,
    path,
    under,
    run: (command, options) =>
      workspace.exec(command, { login: false, shell: '/bin/sh', timeout: 30_000, acknowledge, signal, ...options }),
    require: (field, level) => open({ mounts: [project], require: { [field]: level } }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
