import { htmlToMarkdown } from 'mdream'

import type { MarkdownAnswer, MarkdownRequest } from '../protocol.ts'
import { resolveLinks } from './links.ts'

export async function readMarkdown({ html, url }: MarkdownRequest): Promise<MarkdownAnswer> {
  const text = htmlToMarkdown(await resolveLinks(html, url))
  return { kind: 'markdown', text: `${text.trim()}\n` }
}
