import { checkOption, checkOptions, durationShape, option, type OptionShapes } from '@ws/core/options'

import { expectAnswer, runInThread, type Bounds, type Call } from './call.ts'
import { languages, type Language } from './languages.ts'
import type { Signature } from './worker/protocol.ts'

const operation = 'signatures'
/** UTF-16 units that are read of a source. */
const longestRead = 2 * 1024 * 1024

export interface SignaturesOptions {
  /** See `languageOf`. */
  readonly language: Language
  /** Shown in errors. Default: "the source". */
  readonly path?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds. Default 5,000. The parser may take half of them. */
  readonly timeout?: number | undefined
}

export interface SignatureText {
  /** In the order of the source. */
  readonly signatures: readonly Signature[]
  /** Whether the parser read all of the source, and found no syntax error. */
  readonly parsed: boolean
  /** More than 1,000 signatures, or more than 2 Mi UTF-16 units of source: the rest is left out. */
  readonly truncated: boolean
  /** `patterns`: each line was looked at alone, so that signatures may be missing or be text of a comment. */
  readonly method: 'parser' | 'patterns'
  /** The package to install for the parser, where it is missing. */
  readonly missing?: '@vscode/tree-sitter-wasm'
}

const shapes: OptionShapes<SignaturesOptions> = {
  language: option.required(option.oneOf(...languages)),
  path: option.text,
  signal: option.signal,
  timeout: durationShape,
}

export async function readSignatures(source: string, options: SignaturesOptions, call: Call): Promise<SignatureText> {
  checkOption(operation, 'source', source, option.string)
  checkOptions<SignaturesOptions>(options, shapes, { operation })
  const { language, path, signal, timeout = 5000 } = options
  const bounds: Bounds = { operation, subject: 'source', path, signal, timeout }
  const head = source.slice(0, longestRead)
  return await runInThread(call, bounds, async (thread, stop) => {
    const request = { kind: 'signatures', source: head, language, parseTime: Math.ceil(timeout / 2) } as const
    const answer = expectAnswer(await thread.ask(request, [], stop), 'signatures', bounds)
    const { signatures, parsed, method, missing, spent } = answer
    if (spent) await thread.end()
    const truncated = answer.truncated || head.length < source.length
    return { signatures, parsed, method, ...(missing && { missing }), truncated }
  })
}
