import { readFileSync } from 'node:fs'

import { UsageError } from '../errors.ts'

export function readCall(file: string): { readonly tool: string; readonly arguments: unknown } {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new UsageError(`the file of the call cannot be read; give a JSON file of this machine`)
  }
  const call = parse(text)
  if (typeof call === 'object' && call !== null && 'tool' in call && typeof call.tool === 'string') {
    return { tool: call.tool, arguments: 'arguments' in call ? call.arguments : {} }
  }
  throw new UsageError(
    'the call must be a JSON object such as {"tool": "file_system", "arguments": {"operation": "list"}}',
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
