export { askingSignal as asking, askingToo, eitherSignal as either, urgentSignals as urgent } from './signals.ts'
export { orAbort } from './base/wait.ts'
