export { terminalCommand } from './command.ts'
export { startTerminal } from './start.ts'
export type { TerminalDevice } from './start.ts'
