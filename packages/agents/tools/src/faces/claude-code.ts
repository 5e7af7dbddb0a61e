import type { Face, FaceOptions } from './face.ts'
import { claudeBash } from './claude-code/bash.ts'
import { claudeFiles } from './claude-code/files.ts'
import { nextInClaudeCode } from './claude-code/next.ts'
import { claudeSearch } from './claude-code/search.ts'

export function createClaudeCodeFace(options: FaceOptions): Face {
  return {
    tools: [...claudeFiles(), ...claudeSearch(), ...claudeBash(options)],
    next: nextInClaudeCode,
    words: {
      read: 'Read',
      read_chunked: 'Read',
      inspect: 'Read',
      write: 'Write',
      replace: 'Edit',
      search: 'Grep',
      find: 'Glob',
      execute: 'Bash',
      old: 'old_string',
      new: 'new_string',
      all: 'replace_all',
      path: 'file_path',
      background: 'run_in_background',
    },
  }
}
