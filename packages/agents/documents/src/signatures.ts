import { checkOption, checkOptions, option, type OptionShapes } from '@ws/core/options'

import { expectAnswer, runInThread, type Bounds, type Call } from './call.ts'
import { languages, type Language } from './languages.ts'
import type { Signature } from './worker/protocol.ts'

const operation = 'signatures'
const longestRead = 2 * 1024 * 1024

export interface SignaturesOptions {
  /** See `languageOf`. */
  readonly language: Language
  /** Shown in errors. Default: "the source". */
  readonly path?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds, at most half of them for the parser. Default 5,000. */
  readonly timeout?: number | undefined
}

export interface SignatureText {
  /** In the order of the source. */
  readonly signatures: readonly Signature[]
  readonly parsed: boolean
  /** True if signatures after the first 1,000, or source after 2 Mi UTF-16 units, were left out. */
  readonly truncated: boolean
  /** `patterns`: lines were matched one by one, so signatures can be missing or come from a comment. */
  readonly method: 'parser' | 'patterns'
  /** The package of the parser, if that package is not installed. */
  readonly missing?: '@vscode/tree-sitter-wasm'
}

const shapes: OptionShapes<SignaturesOptions> = {
  language: option.required(option.oneOf(...languages)),
  path: option.text,
  signal: option.signal,
  timeout: option.duration,
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
