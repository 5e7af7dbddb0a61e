export type { Machine, MachineFile, MachineInput, MachineProcess, MachineStart } from './contract.ts'
export { createMachineExecutor } from './remote/executor.ts'
export type { MachineExecutorOptions } from './remote/executor.ts'
