import type { Page } from './site.ts'

interface RenderedPage extends Page {
  readonly markdown: string
}

/** Writes a Markdown copy of each page, `llms.txt` with links to the copies, and `llms-full.txt` with all pages. */
export function writeTexts(pages: readonly RenderedPage[], write: (path: string, text: string) => void): void {
  for (const { route, markdown } of pages) write(`${route}.md`, markdown)
  const links = pages.map(({ route, title, markdown }) => `- [${title}](/${route}.md): ${firstSentence(markdown)}`)
  write('llms.txt', `# @ws\n\n> One filesystem for an AI agent.\n\n${links.join('\n')}\n`)
  write('llms-full.txt', pages.map(({ markdown }) => markdown).join('\n'))
}

function firstSentence(markdown: string): string {
  const paragraph = markdown.split('\n\n')[1]?.replaceAll('\n', ' ') ?? ''
  return /^.*?[.:](?=\s|$)/u.exec(paragraph)?.[0] ?? paragraph
}
