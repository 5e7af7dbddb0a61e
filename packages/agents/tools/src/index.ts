export type { Approval, ApprovalRequest, AskedAccess } from './approval/types.ts'
export { createTools } from './create-tools.ts'
export type { JournalEntry, Tool, ToolAnswer, Toolset, ToolsOptions } from './types.ts'
