export type { AttachedCheckpoints as Attached, CheckpointMount as Mount, Difference } from './checkpoint-engine.ts'
export type { EntryState, ForkDifference, LeftOut, RestoreConflict as Conflict } from './checkpoint-engine.ts'
export type { HeldCheckpoints as Held, SavedCheckpoint as Saved, SaveOptions } from './checkpoint-engine.ts'
