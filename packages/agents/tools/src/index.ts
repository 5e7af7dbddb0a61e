export { createTools } from './create-tools.ts'
export type { Approval, ApprovalRequest, JournalEntry, Tool, ToolAnswer, Toolset, ToolsOptions } from './types.ts'
