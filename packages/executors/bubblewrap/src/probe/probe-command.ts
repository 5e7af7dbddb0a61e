import { paths } from '@ws/core'
import type { BindPlan } from '@ws/core/executor'
import { type ConfinedTarget, type Limits, sandboxProgram, viewEnvironment } from '@ws/sandbox'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import type { KeptContents } from '../bwrap/kept-contents.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Programs } from '../programs.ts'
import type { StartGuard } from '../processes/start-guard.ts'

export interface Attempt {
  readonly target: ConfinedTarget
  readonly options: ResolvedOptions
  readonly programs: Programs
  readonly cgroup: Limits.DelegatedCgroup | undefined
}

export const emptyPlan: BindPlan = { root: paths.root, binds: [], aliases: [], restrictions: [], renameBorders: [] }

export const noGuard: StartGuard = { starting: () => () => undefined, close: () => undefined }

export type Run = Pick<SandboxCommand, 'layout' | 'sources' | 'system' | 'argv' | 'direct'> &
  Partial<Pick<SandboxCommand, 'reserved'>>

export function commandOf(
  attempt: Attempt,
  run: Run & Pick<SandboxCommand, 'network'>,
  contents: KeptContents,
): SandboxCommand {
  const { target, options, programs, cgroup } = attempt
  const isTranslated = run.layout.mode === 'translated'
  return {
    reserved: new Map(),
    env: viewEnvironment({ root: target.root }),
    cwd: paths.root,
    extraFds: new Map(),
    seccomp: sandboxProgram({ allowPtrace: isTranslated, forProot: isTranslated, interprocess: true }),
    contents,
    scratchBytes: options.scratchBytes,
    limits: options.limits,
    cgroup,
    tools: [],
    bwrap: programs.bwrap,
    proot: programs.proot,
    ...run,
  }
}
