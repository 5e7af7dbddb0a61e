import type { FaceName } from '../face-names.ts'
import { createClaudeCodeFace } from './claude-code.ts'
import { createAnthropicFace } from './anthropic.ts'
import type { Face, FaceOptions } from './face.ts'
import { createOpenAIFace } from './openai.ts'
import { createFileSystemFace } from './file-system.ts'
import { createSplitFace } from './split.ts'

const faces: Readonly<Record<FaceName, (options: FaceOptions) => Face>> = {
  file_system: createFileSystemFace,
  split: createSplitFace,
  'claude-code': createClaudeCodeFace,
  anthropic: createAnthropicFace,
  openai: createOpenAIFace,
}

export function createFace(name: FaceName, options: FaceOptions): Face {
  return faces[name](options)
}
