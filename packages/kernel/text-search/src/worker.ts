import { parentPort } from 'node:worker_threads'
import { compileRegex, type Regex } from './regex.ts'

export interface LineRequest {
  readonly pattern: string
  readonly caseSensitive: boolean
  readonly line: string
}

let last: { readonly pattern: string; readonly caseSensitive: boolean; readonly regex: Regex } | undefined

/** Reports, by the first message, that this thread accepts requests. */
parentPort?.postMessage('ready')

parentPort?.on('message', ({ pattern, caseSensitive, line }: LineRequest) => {
  if (last?.pattern !== pattern || last.caseSensitive !== caseSensitive) {
    last = { pattern, caseSensitive, regex: compileRegex(pattern, caseSensitive) }
  }
  parentPort?.postMessage(last.regex.find(line, 0))
})
