import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { DefaultTheme, UserConfig } from 'vitepress'

import { writeTexts } from './llms.ts'
import { allSections, loadPages, renderPage, repositoryRoot, slugOf } from './pages.ts'
import { addressOf } from './site.ts'

const pagesDirectory = join(import.meta.dirname, '../.pages')

/** Writes the pages, and returns the configuration of the site. */
export function createConfig(): UserConfig<DefaultTheme.Config> {
  writeSite()
  return {
    title: '@ws',
    description: 'One filesystem for an AI agent: its tools and its shell see the same files, under one list of rules.',
    head: [['link', { rel: 'icon', href: '/pictures/icon.svg' }]],
    srcDir: '.pages',
    srcExclude: ['public/**'],
    cleanUrls: true,
    lastUpdated: false,
    // vite 5 does not know the target es2024 of our tsconfig
    vite: { esbuild: { tsconfigRaw: '{}' } },
    markdown: {
      anchor: { slugify: slugOf },
      languageAlias: { console: 'sh' },
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    },
    themeConfig: {
      search: {
        provider: 'local',
        options: { miniSearch: { searchOptions: { combineWith: 'AND', boost: { title: 8, titles: 4, text: 1 } } } },
      },
      outline: [2, 3],
      nav: [
        { text: 'Start', link: '/start/agent' },
        { text: 'Playground', link: '/start/playground' },
        { text: 'API', link: '/api/index.html', target: '_self' },
        { text: 'Errors', link: '/errors' },
      ],
      sidebar: allSections.map(({ title, pages }) => ({
        text: title,
        items: pages.map((page) => ({ text: page.title, link: addressOf(page) })),
      })),
    },
  }
}

function writeSite(): void {
  rmSync(pagesDirectory, { recursive: true, force: true })
  const pages = loadPages()
  const rendered = pages.map((page) => ({ ...page, markdown: renderPage(page, pages) }))
  for (const { route, markdown, task } of rendered) write(`${route}.md`, `${markdown}${forAgents(route, task)}`)
  cpSync(join(repositoryRoot, 'docs/pictures'), join(pagesDirectory, 'public/pictures'), { recursive: true })
  writeTexts(rendered, (path, text) => write(join('public', path), text))
}

function write(path: string, text: string): void {
  const file = join(pagesDirectory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** A text that the reader gives to a coding agent. */
function forAgents(route: string, task: string | undefined): string {
  if (task === undefined) return ''
  return `
::: details Paste this into your coding agent
\`\`\`text
Add @ws to this project ${task.replaceAll('`', '')}.
Read /${route}.md and /install.md of the documentation of @ws first.
Names that begin with @ws/ on the npm registry are not ours: install tarballs from a clone, as /install.md says.
Ask me which rules commands must obey, and show them with workspace.explain().
\`\`\`
:::
`
}
