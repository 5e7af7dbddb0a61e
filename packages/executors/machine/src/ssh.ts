export { createSshMachine } from './ssh/machine.ts'
export type { SshMachineOptions } from './ssh/machine.ts'
