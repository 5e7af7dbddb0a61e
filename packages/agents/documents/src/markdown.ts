import { checkOption, checkOptions, option, type OptionShapes } from '@ws/core/options'

import { documentError, expectAnswer, runInThread, type Bounds, type Call } from './call.ts'

const operation = 'markdown'
const longest = 8 * 1024 * 1024

export interface MarkdownOptions {
  /** The absolute URL of the page. */
  readonly url: string
  /** Shown in errors. Default: "the page". */
  readonly path?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds. Default 10,000. */
  readonly timeout?: number | undefined
}

const shapes: OptionShapes<MarkdownOptions> = {
  url: option.required(option.of('an absolute URL', (value) => typeof value === 'string' && URL.canParse(value))),
  path: option.text,
  signal: option.signal,
  timeout: option.duration,
}

export async function readMarkdown(html: string, options: MarkdownOptions, call: Call): Promise<string> {
  checkOption(operation, 'html', html, option.string)
  checkOptions<MarkdownOptions>(options, shapes, { operation })
  const { url, path, signal, timeout = 10_000 } = options
  const bounds: Bounds = { operation, subject: 'page', path, signal, timeout }
  if (html.length > longest) {
    throw documentError(bounds, 'EFBIG', `has more than ${longest} characters`, 'keep it as HTML')
  }
  return runInThread(call, bounds, async (thread, stop) => {
    const answer = await thread.ask({ kind: 'markdown', html, url }, [], stop)
    return expectAnswer(answer, 'markdown', bounds).text
  })
}
