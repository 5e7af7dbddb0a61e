export { createTools } from './create-tools.ts'
export type {
  FaceName,
  InputSchema,
  JournalEntry,
  Json,
  NextCall,
  RunOptions,
  Tool,
  ToolAnnotations,
  ToolAnswer,
  Toolset,
  ToolsOptions,
} from './types.ts'
