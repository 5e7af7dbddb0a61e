export { createTools } from './create-tools.ts'
export { notesOfHints } from './text/hints.ts'
export { faceNames } from './types.ts'
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
