export * from './executor/index.ts'
export { hidingCommand, hidingProblem, type HiddenNames, listingTracer, unreadableCaller } from './hide/hide.ts'
export { sharedDevices, sharedProcFiles } from './landlock/shared-files.ts'
export { checkReadOnlyMounts, type HeldBind } from './landlock/read-only.ts'
export { probeLandlock } from './landlock/probe.ts'
export type { LandlockRule } from './landlock/types.ts'
export { attachCgroup, type DelegatedCgroup, openCgroup } from './limits/cgroup/delegated.ts'
export type { CommandGroup } from './limits/cgroup/group.ts'
export {
  limitedCommand,
  type LimitOptions,
  narrowedLimits,
  type ResolvedLimits,
  resolveLimits,
} from './limits/options.ts'
export { resourceLimitReport } from './limits/report.ts'
export { useListener } from './listen/listener.ts'
export { confineArgv } from './loader/confine.ts'
export type { ProcessLimits } from './loader/limits.ts'
export * from './reserve/index.ts'
export { sandboxProgram } from './seccomp/programs.ts'
export * from './view/index.ts'
