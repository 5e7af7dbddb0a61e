export { createThreads } from './create-threads.ts'
export { bucketName, checkLayout } from './layout/layout.ts'
export type { Layout, LayoutOptions } from './layout/layout.ts'
export { createMachineLeases } from './lease/machine.ts'
export { createObjectLeases } from './lease/object.ts'
export { createProcessLeases } from './lease/process.ts'
export type { Lease, LeaseStore } from './lease/types.ts'
export type { LeftOut, ProvisionEvent, ThreadTemplate } from './provision/types.ts'
export { formatCatalogue } from './skills/skills.ts'
export type { ActivatedSkill, Skill, SkillList } from './skills/types.ts'
export type {
  DeletedThread,
  OpenThreadOptions,
  Thread,
  Threads,
  ReplicatedPart,
  ThreadsOptions,
  ThreadEvent,
  ThreadStatus,
  ThreadWarning,
} from './types.ts'
