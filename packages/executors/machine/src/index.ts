export type { Machine, MachineFiles, MachineInput, MachineProcess, MachineStart } from './contract.ts'
