import { existsSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { SearchHit, AdapterOptions } from '@ws/core/adapter'
import { component, itWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { at, collect, failureOf, isRoot, open, openSite, scratch } from './support.ts'

/** Files on which engines are known to disagree. */
async function plant(root: string): Promise<void> {
  const files: Record<string, string | Uint8Array> = {
    'plain.txt': 'first\nneedle here\nnothing\nneedle again, needle',
    '.hidden': 'needle in a dotfile\n',
    '.git/config': 'needle below a hidden directory\n',
    '.gitignore': 'ignored\n*.log\n',
    'ignored/file.ts': 'needle in what git ignores\n',
    'a.log': 'needle in a log\n',
    'binary.bin': new Uint8Array([0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65, 0, 1, 2]),
    'late-nul.txt': new Uint8Array([...Buffer.from('needle\n'), ...Buffer.alloc(10_000, 0x61), 0, 0x0a]),
    'crlf.txt': 'one\r\nneedle\r\nthree needle\r\n',
    'utf16-bom.txt': new Uint8Array([0xff, 0xfe, ...Buffer.from(' needle after what looks like a mark\n')]),
    'bom.txt': '\uFEFFneedle after a mark\n',
    'invalid.txt': new Uint8Array([0xff, 0xfe, 0xfd, ...Buffer.from(' needle\n'), 0xc3]),
    'long.txt': `${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}\n`,
    'unicode.txt': 'größe 🙂 needle\nNEEDLE\n',
    'name with spaces and -dash/f': 'needle\n',
    'new\nline/n': 'needle\n',
    '-e': '--needle\n',
    'big.txt': `${'z'.repeat(99)}\n`.repeat(3_000) + 'needle at the end',
    empty: '',
    'src/deep/er/file.ts': 'a needle\n',
    'src/skip/file.ts': 'a needle\n',
  }
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true })
    await writeFile(join(root, name), content)
  }
  await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0x66])]), 'needle nobody can name\n')
}

const queries: Record<string, Omit<AdapterOptions.Query, 'in'>> = {
  'literal text': { pattern: 'needle' },
  'any case': { pattern: 'NeeDle', caseSensitive: false },
  'a leading dash': { pattern: '--needle' },
  'what looks like a flag with a value': { pattern: '--pre=sh' },
  'characters of regular expressions': { pattern: 'needle.*' },
  'letters beyond ASCII': { pattern: 'größe 🙂' },
  'a glob': { pattern: 'needle', glob: ['*.ts'] },
  'a glob with a path': { pattern: 'needle', glob: ['src/**'] },
  'an excluding glob': { pattern: 'needle', glob: ['*.ts', '!src/skip'] },
  'an excluded subtree': { pattern: 'needle', exclude: [at('/src/deep'), at('/.git'), at('/plain.txt')] },
  'directories that are excluded anywhere': { pattern: 'needle', glob: ['!**/skip/**', '!**/.git/**'] },
  'a limit of bytes': { pattern: 'needle', maxFileBytes: 10_000 },
}

const order = (hits: SearchHit[]): SearchHit[] =>
  hits.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))

describe('search', () => {
  const title = 'ripgrep and the matcher in this process find the same'
  // As root, ripgrep runs as the owner, and leaves out what that one may not read: then the rest is searched without it.
  for (const [note, hasUnreadable] of [
    ['', false],
    [', also where it may not read everything', true],
  ] as const) {
    itWith(component('landlock'), `${title}${note}`, async () => {
      const { adapter, root } = await openSite()
      await plant(root)
      if (hasUnreadable) {
        await writeFile(join(root, 'closed.txt'), 'needle for root only\n', { mode: 0 })
        await chmod(join(root, 'closed.txt'), 0)
      }
      for (const [name, query] of Object.entries(queries)) {
        const byRipgrep = order(await collect(adapter.search({ ...query, in: at('/') })))
        const pattern = query.pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        const hinted = order(await collect(adapter.search({ ...query, pattern, regex: true, in: at('/') })))
        // an alternative at the top never goes to ripgrep
        const twice = { ...query, pattern: `${pattern}|${pattern}`, regex: true, in: at('/') }
        const inProcess = order(await collect(adapter.search(twice)))
        expect(byRipgrep, name).toEqual(inProcess)
        expect(hinted, name).toEqual(inProcess)
        if (!name.includes('flag') && !name.includes('regular')) expect(byRipgrep.length, name).toBeGreaterThan(0)
      }
    })
  }

  it.skipIf(!isRoot)('[RP17] reads files of others in a tree of root, without ripgrep where that may not', async () => {
    const { path: root } = await scratch()
    await chown(root, 0, 0)
    await plant(root)
    const adapter = await open(root)
    const count = async () => (await collect(adapter.search({ pattern: 'needle', in: at('/') }))).length
    const before = await count()
    await writeFile(join(root, 'other.txt'), 'a needle of another user\n', { mode: 0o600 })
    await chown(join(root, 'other.txt'), 4242, 4242)
    expect(await count()).toBe(before + 1)
  })

  it('[PC22] gives lines, columns and cut text; leaves binary files out; a pattern is data', async () => {
    const { adapter, root } = await openSite()
    await plant(root)
    const hits = await collect(adapter.search({ pattern: 'needle', in: at('/') }))
    const inFile = (path: string) => hits.filter((hit) => hit.path === path)
    expect(inFile('/plain.txt')).toEqual([
      { path: '/plain.txt', line: 2, column: 1, text: 'needle here' },
      { path: '/plain.txt', line: 4, column: 1, text: 'needle again, needle' },
    ])
    expect(inFile('/crlf.txt').map(({ text }) => text)).toEqual(['needle', 'three needle'])
    expect(inFile('/binary.bin')).toEqual([])
    expect(inFile('/long.txt')[0]).toMatchObject({ column: 5_001 })
    expect(inFile('/long.txt')[0]?.text).toHaveLength(2_000)
    expect(inFile('/big.txt')).toMatchObject([{ line: 3_001, column: 1 }])
    expect(inFile('/new\nline/n')).toHaveLength(1)
    expect(await collect(adapter.search({ pattern: 'needle', in: at('/plain.txt') }))).toHaveLength(2)
    expect(await collect(adapter.search({ pattern: 'needle', in: at('/'), maxHits: 3 }))).toHaveLength(3)
    expect(await collect(adapter.search({ pattern: 'needle', in: at('/'), maxHits: 0 }))).toEqual([])
    expect(await failureOf(collect(adapter.search({ pattern: '(', regex: true, in: at('/') })))).toMatchObject({
      code: 'EINVAL',
    })
    expect(await failureOf(collect(adapter.search({ pattern: 'x', in: at('/no') })))).toMatchObject({ code: 'ENOENT' })
    expect(await failureOf(collect(adapter.search({ pattern: 'x', in: at('/'), maxHits: -1 })))).toMatchObject({
      code: 'EINVAL',
    })
  })

  it.skipIf(!existsSync('/proc/self/fd'))(
    'leaves no descriptor and no process behind when it is left early',
    async () => {
      const { adapter, root } = await openSite()
      await plant(root)
      await collect(adapter.search({ pattern: 'needle', in: at('/') })) // what is opened once is open now
      const before = readdirSync('/proc/self/fd').length
      for (let index = 0; index < 5; index += 1) {
        for await (const hit of adapter.search({ pattern: 'needle', in: at('/') })) {
          expect(hit.text).toContain('needle')
          break
        }
      }
      // others of this process come and go meanwhile: a leak of five stays
      await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before)
    },
  )

  it.skipIf(isRoot)('leaves out what may not be read', async () => {
    const { adapter, root } = await openSite()
    await plant(root)
    await chmod(join(root, 'plain.txt'), 0)
    const hits = await collect(adapter.search({ pattern: 'needle', in: at('/') }))
    expect(hits.some(({ path }) => path === '/plain.txt')).toBe(false)
    expect(hits.length).toBeGreaterThan(5)
  })
})
