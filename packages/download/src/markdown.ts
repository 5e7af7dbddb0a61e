import { WorkspaceError } from '@ws/core'
import { streamHtmlToMarkdown } from 'mdream'
import { setImmediate as nextTurn } from 'node:timers/promises'

const maxBytes = 8 * 1024 * 1024
/** Characters that are converted in one turn of the event loop: about 3 ms. */
const part = 64 * 1024

/**
 * HTML as Markdown. Links become absolute by `url`.
 *
 * @throws WorkspaceError `EFBIG` for more than 8 MiB
 */
export async function htmlToMarkdown(html: string, { url }: { readonly url: string }): Promise<string> {
  if (html.length > maxBytes) {
    throw new WorkspaceError({
      code: 'EFBIG',
      operation: 'htmlToMarkdown',
      reason: `it has more than ${maxBytes} characters`,
      remedy: 'keep it as HTML',
    })
  }
  let at = 0
  const source = new ReadableStream<string>({
    async pull(controller) {
      await nextTurn()
      if (at >= html.length) return controller.close()
      controller.enqueue(html.slice(at, at + part))
      at += part
    },
  })
  const parts: string[] = []
  for await (const text of streamHtmlToMarkdown(source, { origin: new URL(url).origin })) parts.push(text)
  return `${parts.join('').trim()}\n`
}
