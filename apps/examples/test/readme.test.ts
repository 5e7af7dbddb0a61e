import { existsSync, globSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { chown, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { component, createScratchDirectory, itWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { extractExamples, extractPaths } from './readme/extract.ts'
import { openStore } from './readme/store.ts'
import { compileExamples, missingLines, repositoryRoot, runExample, writeExamples } from './readme/run.ts'

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8')
const find = (...patterns: string[]) => globSync(patterns, { cwd: repositoryRoot }).toSorted()
const readmes = find(
  'README.md',
  'docs/protected-names.md',
  'docs/guides/give-a-model-tools.md',
  '{packages,apps}/*/README.md',
)
const examples = await writeExamples(readmes.map((path) => ({ path, examples: extractExamples(read(path)) })))

const published = find('{packages,apps}/*/package.json')
  .filter((path) => !/"private": true/u.test(read(path)))
  .map((path) => path.replace('package.json', 'README.md'))

describe('the examples of the READMEs', () => {
  it('are compiled', async () => {
    expect(await compileExamples()).toBe('')
  }, 60_000)

  it('are there to be run, in every package', () => {
    expect(readmes).toEqual(expect.arrayContaining(['README.md', ...published]))
    expect(examples.filter(({ noRun }) => noRun === undefined).length).toBeGreaterThan(0)
  })

  for (const example of examples.filter(({ noRun }) => noRun === undefined)) {
    itWith(
      example.needs.map(component),
      `[HO2] ${example.place} runs, prints what it says and leaves nothing open`,
      async () => {
        await using scratch = await createScratchDirectory({ prefix: 'ws-readme-' })
        const project = join(scratch.path, 'my-project')
        await mkdir(project)
        if (process.getuid?.() === 0) await chown(project, scratch.owner.uid, scratch.owner.gid)
        await using store = await openStore(example.store)
        const before = { directory: process.cwd(), env: { ...process.env } }
        process.chdir(scratch.path)
        Object.assign(process.env, store.env)
        try {
          const printed = await runExample(example)
          expect(missingLines(example.prints, printed), `it printed:\n${printed.join('\n')}`).toEqual([])
          expect(openedBelow(scratch.path)).toEqual([])
        } finally {
          process.chdir(before.directory)
          process.env = before.env
        }
      },
    )
  }
})

/** Files and directories below one that this process has open. */
function openedBelow(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)].filter((path) => path.startsWith(directory))
    } catch {
      return [] // that of the listing
    }
  })
}

describe('the first screen', () => {
  /** The packages that the last `npm install` above a line names. */
  const installedAbove = (markdown: string, line: number) => {
    const above = markdown.split('\n').slice(0, line - 1)
    const command = above.findLast((text) => text.startsWith('npm install')) ?? ''
    return command
      .replace(/\s*#.*/u, '')
      .split(/\s+/u)
      .slice(2)
  }
  const importedBy = (code: string) =>
    [...code.matchAll(/from '(?!node:)((?:@[^/']+\/)?[^/']+)/gu)].map(([, name = '']) => name)

  it.each(published)('%s installs its package and every package that its first example imports', (path) => {
    const markdown = read(path)
    const { name } = JSON.parse(read(path.replace('README.md', 'package.json'))) as { readonly name: string }
    const [first] = extractExamples(markdown)
    expect(installedAbove(markdown, first?.line ?? Infinity)).toEqual(
      expect.arrayContaining([name, ...importedBy(first?.code ?? '')]),
    )
  })

  it('README.md has three quick starts of at most 12 lines, each with the packages that it imports', () => {
    const markdown = read('README.md')
    const starts = extractExamples(markdown)
    expect(starts).toHaveLength(3)
    for (const { code, line } of starts) {
      expect(code.trim().split('\n').length).toBeLessThanOrEqual(12)
      expect(new Set(installedAbove(markdown, line).filter((word) => !word.startsWith('-')))).toEqual(
        new Set(importedBy(code)),
      )
    }
  })
})

describe('the documents', () => {
  it.each(find('*.md', '{packages,apps}/*/README.md', 'docs/**/*.md'))('%s names files that are there', (path) => {
    const { links, paths } = extractPaths(read(path))
    const missing = [
      ...links.filter((link) => !existsSync(join(repositoryRoot, dirname(path), link))),
      ...paths.filter((named) => !existsSync(join(repositoryRoot, named))),
    ]
    expect(missing).toEqual([])
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
