import { agentToolset } from './anthropic/agent-toolset.ts'
import { memoryTool } from './anthropic/memory.ts'
import { nextForAnthropic } from './anthropic/next.ts'
import { textEditorTool } from './anthropic/text-editor.ts'
import type { Face, FaceOptions } from './face.ts'

export function createAnthropicFace(options: FaceOptions): Face {
  return {
    tools: [textEditorTool(), memoryTool(), ...agentToolset(options)],
    next: nextForAnthropic,
    words: {
      read_chunked: 'bash',
      inspect: 'read',
      replace: 'edit',
      search: 'grep',
      find: 'glob',
      execute: 'bash',
      old: 'old_string',
      new: 'new_string',
      all: 'replace_all',
    },
  }
}
