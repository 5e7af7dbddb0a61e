export { createTools } from './create-tools.ts'
export { faceNames, type FaceName } from './face-names.ts'
export type {
  DownloadsOptions,
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
