import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'

import { addressOf, type Page, sections } from './site.ts'

export const repositoryRoot = join(import.meta.dirname, '../../..')

interface Line {
  readonly source: string
  readonly number: number
  readonly text: string
}

/** A page with its source lines and sections. */
export interface LoadedPage extends Page {
  readonly lines: readonly Line[]
  readonly anchors: ReadonlySet<string>
}

/** Pages with tables that are not stored, and the programs that print these tables. */
const printed = new Map([
  ['docs/conformance.md', 'lab/tests-kit/test/print-table.ts'],
  ['docs/escapes.md', 'lab/tests-commands/src/escapes/print-attempts.ts'],
])
const tables = new Map<string, string>()

const decisions: readonly Page[] = globSync('docs/decisions/*.md', { cwd: repositoryRoot })
  .toSorted()
  .map((source) => ({ route: `decisions/${basename(source, '.md')}`, title: titleOf(source), source }))

export const allSections = [...sections, { title: 'Decisions', pages: decisions }]

export function slugOf(heading: string): string {
  const words = heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1')
    .trim()
    .toLowerCase()
  return words.replaceAll(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-')
}

/** Loads all pages. If the last line of a README names a page of `docs`, that page is appended to the README. */
export function loadPages(): LoadedPage[] {
  return allSections
    .flatMap(({ pages }) => pages)
    .map((page) => {
      const lines = linesOf(page.source)
      const [, details] = /^Options, promises and limits: `(.+)` in the/u.exec(lines.at(-1)?.text ?? '') ?? []
      const all = details === undefined ? lines : [...lines.slice(0, -1), ...linesOf(details).slice(1)]
      const headings = withoutCode(all).flatMap(({ text }) => /^#{1,6} (.+)$/u.exec(text)?.[1] ?? [])
      return { ...page, lines: all, anchors: new Set(headings.map(slugOf)) }
    })
}

function linesOf(source: string): Line[] {
  let all = readFileSync(join(repositoryRoot, source), 'utf8')
  const program = printed.get(source)
  if (program !== undefined) {
    const args = ['--conditions=@ws/source', join(repositoryRoot, program)]
    const table = tables.get(source) ?? execFileSync(process.execPath, args, { encoding: 'utf8' })
    tables.set(source, table)
    all += `\n${table}`
  }
  const lines = all.trimEnd().split('\n')
  return lines.map((text, index) => ({ source, number: index + 1, text }))
}

function titleOf(source: string): string {
  return linesOf(source)[0]?.text.slice(2) ?? ''
}

/** The lines outside of blocks of code. */
export function withoutCode(lines: readonly Line[]): Line[] {
  let fence: string | undefined
  return lines.filter(({ text }) => {
    const [mark] = /^(?:`{3,}|~{3,})/u.exec(text) ?? []
    const wasOpen = fence !== undefined
    if (mark !== undefined && fence === undefined) fence = mark
    else if (fence !== undefined && text.startsWith(fence)) fence = undefined
    return !wasOpen && fence === undefined
  })
}

/**
 * A page's Markdown with its title. Links to pages of the site stay links; other links become paths.
 * @throws Error for a broken link, with file and line
 */
export function renderPage(page: LoadedPage, pages: readonly LoadedPage[]): string {
  const bySource = new Map(pages.flatMap((each) => each.lines.map(({ source }) => [source, each] as const)))
  const prose = new Set(withoutCode(page.lines))
  const body = page.lines.slice(1).map((line) => {
    // words after a language are for tests; VitePress would take the number in `store=r2` for a line to highlight
    if (!prose.has(line)) return line.text.replace(/^(`{3,}\w+) .+$/u, '$1')
    if (line.text.includes('pictures/')) return line.text.replaceAll(/"(?:docs\/)?pictures\//gu, '"/pictures/')
    const escaped = line.text.replaceAll(/(`+)(.*?)\1|\{\{/gu, (all, mark?: string) =>
      mark === undefined ? '&#123;&#123;' : all,
    )
    return escaped.replaceAll(/(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/gu, (all, text: string, link: string) => {
      if (/^[a-z]+:/u.test(link)) return all
      return linkTo(line, page, text, link, bySource)
    })
  })
  return [`# ${page.title}`, ...body, ''].join('\n')
}

function linkTo(
  { source, number }: Line,
  page: LoadedPage,
  text: string,
  link: string,
  pages: ReadonlyMap<string, LoadedPage>,
): string {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? source : posix.normalize(posix.join(posix.dirname(source), path))
  const target = path === '' ? page : (pages.get(file) ?? pages.get(`${file}/README.md`))
  if (target === undefined) {
    if (!existsSync(join(repositoryRoot, file))) throw new Error(`${source}:${number}: ${link} is not there`)
    return text.replaceAll('`', '') === file ? text : `${text} (\`${file}\`)`
  }
  if (anchor !== undefined && !target.anchors.has(anchor))
    throw new Error(`${source}:${number}: ${target.route} has no section #${anchor}`)
  return `[${text}](${addressOf(target)}${anchor === undefined ? '' : `#${anchor}`})`
}
