import { posix } from 'node:path'

import { quoteForShell } from '@ws/core/executor'

import type { Face, FaceOptions } from './face.ts'
import { applyPatchTool } from './openai/apply-patch.ts'
import { shellTool } from './openai/shell.ts'
import { viewImageTool } from './openai/view-image.ts'
import type { NextOperation } from '../answers/problem.ts'
import type { Json, NextCall } from '../types.ts'

export function createOpenAIFace(options: FaceOptions): Face {
  const tools = [applyPatchTool(), shellTool(options), viewImageTool()]
  return { tools, next: (wanted) => nextForOpenAI(wanted, options.root) }
}

/** @param root set if commands start in another directory: paths are then absolute */
function nextForOpenAI({ operation, arguments: given }: NextOperation, root: FaceOptions['root'] = '.'): NextCall {
  const quoted = (value: Json | undefined): string => {
    const path = typeof value === 'string' ? value : '.'
    return quoteForShell(root === '.' || path.startsWith('/') ? path : posix.join(root, path))
  }
  const path = quoted(given['path'])
  const commands: Readonly<Record<string, string>> = {
    read: `cat -n ${path}`,
    read_chunked: `head -c 16384 ${path}`,
    inspect: `head -n 10 ${path}`,
    search: `grep -rn -e ${quoted(given['pattern'])} ${path}`,
    // find fails at an unreadable directory, but still prints the other matches
    find: `find ${quoted(undefined)} -name ${quoted(typeof given['glob'] === 'string' ? given['glob'].replace(/^.*\//u, '') : '*')} || true`,
    list: `ls -la ${path}`,
    delete: `rm ${given['recursive'] === true ? '-r ' : ''}${path}`,
    move: `mv -n ${quoted(given['from'])} ${quoted(given['to'])}`,
    copy: `cp -rn ${quoted(given['from'])} ${quoted(given['to'])}`,
  }
  return { tool: 'shell', arguments: { commands: [commands[operation] ?? 'ls -la'] } }
}
