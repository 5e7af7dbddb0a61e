/** @module-tag all */
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { lowestNode } from '@ws/core/executor'
import { component, createScratchDirectory, itWith } from '@ws/test-fixtures'
import { packageFolders } from '@ws/test-fixtures/report'
import { describe, expect, it, vi } from 'vitest'

import { extractExamples, extractPaths, installedBy } from './readme/extract.ts'
import { find, published, read, readPage } from './readme/pages.ts'
import { openStore } from './readme/store.ts'
import { compileExamples, missingLines, repositoryRoot, runExample, writeExamples } from './readme/run.ts'

const readmes = find(
  'README.md',
  'docs/{production,protected-names,rules}.md',
  'docs/{concepts,start}/*.md',
  'docs/frameworks/langchain.md',
  'docs/guides/give-a-model-tools.md',
  'docs/guides/let-a-person-decide-about-effects.md',
  'docs/guides/let-an-agent-try.md',
  'docs/guides/reach-the-network.md',
  'docs/guides/run-a-dev-server.md',
  'docs/guides/worktree-for-each-agent.md',
  `${packageFolders}/README.md`,
)
const examples = await writeExamples(
  readmes.map((path) => {
    const { text, placeOf } = readPage(path)
    return { path, examples: extractExamples(text), placeOf }
  }),
)

describe('the examples of the READMEs', () => {
  // takes as long as to run all of them, which `npm test` does
  it('are compiled', { tags: ['deep'], timeout: 240_000 }, async () => {
    expect(await compileExamples()).toBe('')
  })

  it('are there to be run, in every package', () => {
    expect(readmes).toEqual(expect.arrayContaining(['README.md', ...published]))
    expect(examples.filter(({ noRun }) => noRun === undefined).length).toBeGreaterThan(0)
  })

  for (const example of examples.filter(({ noRun }) => noRun === undefined)) {
    itWith(
      example.needs.map(component),
      `[HO2] ${example.place} runs in an empty directory, prints what it says and leaves nothing open`,
      async () => {
        await using scratch = await createScratchDirectory({ prefix: 'ws-readme-' })
        await using store = await openStore(example.store)
        const before = process.cwd()
        process.chdir(scratch.path)
        for (const [name, value] of Object.entries(store.env)) vi.stubEnv(name, value)
        try {
          const printed = await runExample(example)
          expect(missingLines(example.prints, printed), `it printed:\n${printed.join('\n')}`).toEqual([])
          expect(openedBelow(scratch.path)).toEqual([])
        } finally {
          process.chdir(before)
          vi.unstubAllEnvs()
        }
      },
    )
  }
})

/** The open files and directories of this process below a directory. */
function openedBelow(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)].filter((path) => path.startsWith(directory))
    } catch {
      return [] // that of the listing
    }
  })
}

describe('every example', () => {
  it.each(readmes)('%s: imports only what the install lines above it bring, and says what it needs', (path) => {
    const { text: markdown, placeOf } = readPage(path)
    for (const { line, code, needs, store, noRun } of extractExamples(markdown)) {
      const above = markdown.split('\n').slice(0, line - 1)
      expect(installedBy(above), placeOf(line)).toEqual(expect.arrayContaining(importedBy(code)))
      const section = above.slice(above.findLastIndex((text) => /^#+ [A-Z@`]/u.test(text))).join('\n')
      const named = [...needs, ...(store === undefined ? [] : ['S3_ENDPOINT', 'S3_BUCKET'])]
      if (named.length > 0 || noRun !== undefined) expect(section, placeOf(line)).toMatch(/\bneeds?\b/iu)
      for (const name of named) expect(section.toLowerCase(), placeOf(line)).toContain(name.toLowerCase())
    }
  })

  /** Blocks that are not run here: the test that shows them, or the reason why none can. */
  const elsewhere: Readonly<Record<string, string>> = {
    'README.md console': 'apps/cli/test/demo/story.test.ts',
    'apps/cli/README.md console': 'apps/cli/test/files.test.ts',
    'apps/examples/README.md sh': 'apps/examples/test/agent-service/main.test.ts',
    'docs/agents/observability.md sh': 'installs from the registry',
    'docs/cli.md console': 'names a bucket that is not there',
    'docs/cli.md json': 'apps/cli/test/readme.test.ts',
    'docs/executors/bubblewrap.md sh': 'installs from the registry',
    'docs/executors/sandbox-runtime.md sh': 'runs tests of this repository',
    'docs/frameworks/mcp.md json': 'apps/cli/test/mcp.test.ts',
    'docs/frameworks/mcp.md sh': 'configures a program that is not here',
    'docs/frameworks/mcp.md toml': 'apps/cli/test/mcp.test.ts',
    'docs/guides/let-a-person-decide-about-effects.md console': 'apps/cli/test/approve.test.ts',
    'docs/guides/let-an-agent-try.md console': 'apps/cli/test/checkpoints.test.ts',
    'docs/guides/run-in-containers.md dockerfile': 'needs an engine of containers',
    'docs/guides/run-in-containers.md sh': 'needs an engine of containers',
    'docs/guides/run-in-containers.md yaml': 'needs a cluster',
    'docs/guides/run-on-macos-and-windows.md sh': 'runs tests of this repository',
    'docs/guides/run-plans.md console': 'apps/cli/test/run.test.ts',
    'docs/guides/run-plans.md yaml': 'apps/cli/test/run.test.ts',
    'docs/guides/worktree-for-each-agent.md sh': 'apps/cli/test/worktree.test.ts',
  }
  const inGuides = ['run-plans', 'test-code-that-uses-node-fs', 'write-an-adapter', 'write-an-executor']

  it('is run by a test, or is marked with the reason', () => {
    const details = readmes.map((path) => readPage(path).placeOf(Infinity).split(':')[0])
    const run = [...readmes, ...details, ...inGuides.map((guide) => `docs/guides/${guide}.md`)]
    const installs = /^(?:$|#|npm run pack |cd |export PATH=)/u
    const all = find('*.md', `${packageFolders}/README.md`, 'docs/**/*.md').flatMap((path) =>
      [...read(path).matchAll(/^```(\w+)[^\n]*\n(.*?)^```$/gmsu)]
        .filter(([, language, code = '']) => {
          if (language === 'ts') return !run.includes(path)
          return language !== 'sh' || !code.split('\n').every((line) => installs.test(line))
        })
        .map(([, language]) => `${path} ${language}`),
    )
    expect(new Set(all)).toEqual(new Set(Object.keys(elsewhere)))
    const tests = Object.values(elsewhere).filter((reason) => reason.endsWith('.ts'))
    expect(tests.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([])
  })

  it('can be read by every Node that is promised: the lowest has no `using`', () => {
    const guides = find('docs/**/*.md').flatMap((path) => extractExamples(read(path)))
    const modern = [...examples, ...guides].filter(({ code }) => /^\s*(?:await )?using /mu.test(code))
    expect(modern).toEqual([])
  })

  const importedBy = (code: string) =>
    [...code.matchAll(/from '(?!node:)((?:@[^/']+\/)?[^/']+)/gu)].map(([, name = '']) => name)

  it.each(published)('%s installs its package first', (path) => {
    const { name } = JSON.parse(read(path.replace('README.md', 'package.json'))) as { readonly name: string }
    expect(installedBy(read(path).split('\n', 20))).toContain(name)
  })

  it.each(published)('%s has at most 300 words: npm shows it, and the pages of `docs` have the rest', (path) => {
    expect(read(path).split(/\s+/u).length).toBeLessThanOrEqual(300)
  })

  it('README.md has at most 900 words', () => {
    const words = read('README.md')
      .split(/\s+/u)
      .filter((word) => /\w/u.test(word))
    expect(words.length).toBeLessThanOrEqual(900)
  })

  it('README.md has three quick starts of at most 12 lines', () => {
    const starts = extractExamples(read('README.md'))
    expect(starts).toHaveLength(3)
    for (const { code } of starts) expect(code.trim().split('\n').length).toBeLessThanOrEqual(12)
  })
})

describe('the documents', () => {
  it.each(find('*.md', `${packageFolders}/README.md`, 'docs/**/*.md'))('%s names files that are there', (path) => {
    const { links, paths } = extractPaths(read(path))
    const missing = [
      ...links.filter((link) => !existsSync(join(repositoryRoot, dirname(path), link))),
      ...paths.filter((named) => !existsSync(join(repositoryRoot, named))),
    ]
    expect(missing).toEqual([])
  })

  it.each(find('*.md', `${packageFolders}/README.md`, 'docs/guides/*.md'))(
    '%s installs the packages that `ws` needs for the commands that it shows',
    (path) => {
      const shown = [...read(path).matchAll(/^(?:\$ ws (.*)|.*\bWS --root DIR (.*))$/gmu)]
      const lines = shown.map(([, typed, configured]) => typed ?? configured ?? '')
      const needed = Object.entries(optional).filter(([, use]) => lines.some((line) => use.test(line)))
      expect(installedBy(read(path).split('\n'))).toEqual(expect.arrayContaining(needed.map(([name]) => name)))
    },
  )

  const optional: Readonly<Record<string, RegExp>> = {
    '@ws/adapter-s3': /--s3 /u,
    '@ws/adapter-rclone': /--rclone /u,
    '@ws/executor-virtual': /--executor virtual|--s3 .*\bexec\b/u,
    '@ws/mcp-server': /^(?:--\S+ \S+ )*mcp\b/u,
    '@ws/runner': /^(?:--\S+ \S+ )*run\b/u,
    '@ws/threads': /^(?:--\S+ \S+ )*thread\b/u,
    '@ws/conformance': /^(?:--\S+ \S+ )*verify\b/u,
  }

  it('names of ours are never taken from a registry, which has others of that name or none', () => {
    const pages = find('*.md', `${packageFolders}/*.md`, 'docs/**/*.md')
    const taken = pages.flatMap((path) =>
      [
        ...read(path).matchAll(
          /\b(?:npm (?:i|install|exec|add)|npx|pnpm (?:add|dlx)|yarn (?:add|dlx)|bunx)\b.*@ws\/.*/gu,
        ),
      ]
        .concat([...read(path).matchAll(/"npx".*@ws\/.*/gu)])
        .map(([text]) => `${path}: ${text}`),
    )
    expect(taken).toEqual([])
  })

  it('no page and no program tells to run a name from the registry that is not ours, `ws` among them', () => {
    const run = /\b(?:npx|bunx|(?:pnpm|yarn) dlx|npm exec)\b["']?,?\s+(?:-\S+\s+)*["'`]?([@\w][^\s"'`]*)/gu
    const pages = find('*.md', `${packageFolders}/*.md`, 'docs/**/*.md', `${packageFolders}/src/**/*.ts`)
    const named = pages.flatMap((path) =>
      [...read(path).matchAll(run)].map(([, program = '']) => program.replace(/@[\d.]+$/u, '')),
    )
    // vitest is installed where the pages name it; pnpm is pinned
    expect(new Set(named)).toEqual(new Set(['vitest', 'pnpm']))
  })

  it('published sources use nothing that the lowest Node lacks', () => {
    const missing =
      /\b(?:Async)?DisposableStack\b|\bSuppressedError\b|\bPromise\.try\b|\bRegExp\.escape\b|\bError\.isError\b/u
    const sources = published.flatMap((path) => find(path.replace('README.md', 'src/**/*.ts')))
    // the demo runs in the repository only
    const own = sources.filter((path) => !path.startsWith('apps/cli/src/demo'))
    const code = (path: string) => read(path).replaceAll(/\/\*\*[\s\S]*?\*\//gu, '')
    expect(own.filter((path) => missing.test(code(path)))).toEqual([])
  })

  it('the lowest Node is that of all manifests, and told in one page', () => {
    const manifests = find('package.json', `${packageFolders}/package.json`)
    const engines = manifests.map((path) => (JSON.parse(read(path)) as { engines?: { node: string } }).engines?.node)
    expect(new Set(engines.filter((range) => range !== undefined))).toEqual(new Set([`>=${lowestNode}`]))
    const pages = find('*.md', `${packageFolders}/*.md`, 'docs/{*,guides/*}.md')
    const told = pages.filter((path) => /\bNode \d+\.\d+/u.test(read(path)))
    expect(told).toEqual(['README.md'])
    expect(read('README.md')).toContain(`Node ${lowestNode} or newer`)
  })
})

describe('extractExamples', () => {
  const block = (info: string, code = '1') => `\`\`\`${info}\n${code}\n\`\`\`\n`

  it('takes blocks of TypeScript only, and joins those that continue', () => {
    const text = `${block('sh')}${block('ts', 'const a = 1')}text\n${block('ts continued', 'a')}${block('ts', 'b')}`
    expect(extractExamples(text)).toMatchObject([
      { line: 4, code: 'const a = 1\n\na\n', needs: [], noRun: undefined },
      { line: 11, code: 'b\n' },
    ])
  })

  it('reads needs, reasons and expected output', () => {
    const text = `${block('ts needs=git,bubblewrap')}${block('ts no-run: it never ends', 'console.log(f(1)) // 2')}`
    expect(extractExamples(text)).toMatchObject([
      { needs: ['git', 'bubblewrap'] },
      { noRun: 'it never ends', prints: ['2'] },
    ])
  })

  it.each([
    'ts no-run',
    'ts no-run:',
    'ts needs=',
    'ts needs=magic',
    'ts store=magic',
    'ts store=r2 needs=',
    'ts skip',
    'ts continued',
  ])('`%s` in the fence is an error, not a block that nobody runs', (info) => {
    expect(() => extractExamples(block(info))).toThrow()
  })

  it('a block that is never closed is an error', () => {
    expect(() => extractExamples('```ts\n1\n')).toThrow('never closed')
  })

  it('expected lines must come in order', () => {
    expect(missingLines(['a', 'b'], ['a', 'x', 'b'])).toEqual([])
    expect(missingLines(['b', 'a'], ['a', 'b'])).toEqual(['a'])
  })
})
