import type { Face } from './face.ts'
import { nextForOpenAI } from './openai/next.ts'
import { applyPatchTool } from './openai/apply-patch.ts'
import { shellTool } from './openai/shell.ts'

/** OpenAI's tools by their documented arguments. Files are read and searched by the shell. */
export function createOpenAIFace(): Face {
  return { tools: [applyPatchTool(), shellTool()], next: nextForOpenAI }
}
