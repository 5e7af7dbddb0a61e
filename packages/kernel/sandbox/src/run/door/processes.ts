export { Shared } from '../shared.ts'
export { spawnChild } from '../spawn.ts'
export { sendSignal } from '../tree/end.ts'
export { listProcesses, type ProcessStat, readProcessStat } from '../tree/stat.ts'
