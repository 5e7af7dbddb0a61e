export { probeLandlock } from './probe.ts'
export { checkReadOnlyMounts, type HeldBind } from './read-only.ts'
export { sharedDevices, sharedProcFiles } from './shared-files.ts'
export type { LandlockProbe, LandlockRule } from '../types.ts'
