import { rules, type Workspace } from '@ws/core'
import { check, equal } from '../assert.ts'
import { above, codeOf, type Site } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

/** Returns the paths that a glob finds, relative to the site's root, in the glob's order. */
async function found(site: Site, patterns: string | readonly string[], options?: Parameters<Workspace['glob']>[1]) {
  const start = site.at('').endsWith('/') ? site.at('').length : site.at('').length + 1
  const entries = await Array.fromAsync(site.workspace.glob(patterns, options))
  return entries.map(({ path }) => path.slice(start))
}

const files = {
  'src/a.ts': '',
  'src/b.js': '',
  'src/.hidden/c.ts': '',
  'src/deep/er/d.ts': '',
  'test/a.ts': '',
  '.env.ts': '',
  'b.ts': '',
}

export function globTests({ describe, test }: DoorSuite): void {
  describe('globs', () => {
    test('find entries by their path, each directory in order and before what is in it', {}, async (it) => {
      const site = await it.open({ files })
      const all = ['.env.ts', 'b.ts', 'src/.hidden/c.ts', 'src/a.ts', 'src/deep/er/d.ts', 'test/a.ts']
      equal(await found(site, '*.ts'), all, 'a glob for names')
      equal(await found(site, ['src/**/*.ts', '/b.*']), ['b.ts', ...all.slice(2, 5)], 'several globs')
      equal(await found(site, '*/a.ts'), ['src/a.ts', 'test/a.ts'], 'a glob for paths')
      equal(await found(site, '/*'), ['.env.ts', 'b.ts', 'file.txt', 'src', 'test'], 'one level')
      equal(await found(site, 'src/{deep,none}/**'), ['src/deep/er', 'src/deep/er/d.ts'], 'everything below')
      equal(await found(site, 'er'), ['src/deep/er'], 'a directory')
      equal(await found(site, ['*.ts', '!src', '!.env*']), ['b.ts', 'test/a.ts'], 'what `!` excludes')
      equal(await found(site, ['!src', '!*.ts']), ['file.txt', 'test'], 'only what is excluded')
      equal(await found(site, '*.ts', { in: 'src/deep' }), ['src/deep/er/d.ts'], 'below a directory')
      equal(await found(site, 'er/*.ts', { in: 'src/deep' }), ['src/deep/er/d.ts'], 'a path below a directory')
      equal(await found(site, '*.ts', { exclude: ['src/deep', 'test'] }), [...all.slice(0, 4)], 'with `exclude`')
      equal(await found(site, '*.ts', { includeHidden: false }), ['b.ts', 'src/a.ts', 'src/deep/er/d.ts', 'test/a.ts'])
      equal(await found(site, '*.ts', { maxMatches: 3 }), all.slice(0, 3), 'the first three')
      equal(await found(site, '*.ts', { maxMatches: 0 }), [], 'none of them')
      equal(await found(site, 'nothing'), [], 'without a match')
      const [entry] = await Array.fromAsync(site.workspace.glob('b.ts'))
      equal([entry?.path, entry?.name, entry?.type], [site.at('b.ts'), 'b.ts', 'file'], 'an entry')
    })

    test('that are malformed, and places that are not there, are refused', {}, async (it) => {
      const { workspace } = await it.open()
      for (const glob of ['', '[a', 'a/../b', [], [7], 7, null])
        equal(await codeOf(workspace.glob(glob as string).next()), 'EINVAL', JSON.stringify(glob))
      equal(await codeOf(workspace.glob('*', { in: 'missing' }).next()), 'ENOENT', 'a directory that is missing')
      equal(await codeOf(workspace.glob('*', { in: 'missing', maxMatches: 0 }).next()), 'ENOENT', 'for no match')
      equal(await codeOf(workspace.glob('*', { in: above(it.root) }).next()), 'EOUTSIDE', 'a place outside')
      const reason = new Error('enough')
      const signal = AbortSignal.abort(reason)
      const failure = await workspace
        .glob('*', { signal })
        .next()
        .catch((error: unknown) => error)
      check(failure === reason, 'an abort rejects with its reason')
    })

    test('tell nothing of a denied directory, by any pattern', {}, async (it) => {
      const site = await it.open({
        files: { 'no/x.ts': '', 'no/dir/y.ts': '', 'yes/z.ts': '' },
        rules: (at) => [rules.deny(at('no')), rules.denyGlob('secret*')],
      })
      await site.store.write('/yes/secret.d/k.ts' as never, new Uint8Array(), { parents: true })
      for (const pattern of [
        '*.ts',
        '**/*.ts',
        'no/**',
        'no/*',
        '/no/x.ts',
        'no/dir/**',
        '{no,yes}/**/*.ts',
        '**/k.ts',
      ])
        check(
          (await found(site, pattern)).every((path) => path === 'yes/z.ts' || /^(yes\/secret\.d|yes)$/.test(path)),
          `${pattern} shows something`,
        )
      equal(await found(site, 'no'), ['no'], 'the name, as a listing shows it')
      for (const place of ['no', 'no/dir', 'no/missing'])
        equal(await codeOf(site.workspace.glob('*', { in: place }).next()), 'EACCES', place)
    })

    test('go through the links that they name or start at, and through no others', { symlinks: true }, async (it) => {
      const site = await it.open({
        files: { 'dir/a.ts': '', 'no/x.ts': '' },
        rules: (at) => [rules.deny(at('no'))],
      })
      await site.link('dir/loop', '..')
      await site.link('dir/in', '../no')
      await site.link('start', 'dir')
      await site.link('wrong', 'no')
      equal(await found(site, '*.ts'), ['dir/a.ts'], 'through links')
      equal(await found(site, '*/a.ts'), ['dir/a.ts'], 'through links that match')
      equal(await found(site, 'start/*.ts'), ['start/a.ts'], 'through a link that is named')
      equal(await found(site, ['start/**/*.ts', '!start']), [], 'through one that is excluded')
      equal(await found(site, 'start/a.ts', { exclude: ['dir'] }), [], 'to a directory that is excluded')
      equal(await found(site, 'dir/loop/dir/*.ts'), ['dir/loop/dir/a.ts'], 'and up through another')
      equal(await found(site, 'dir/in/*'), [], 'to a denied place')
      equal(await found(site, '{loop,in}'), ['dir/in', 'dir/loop'], 'links themselves')
      equal(await found(site, '*.ts', { in: 'start' }), ['dir/a.ts'], 'from a link')
      equal(await codeOf(site.workspace.glob('*', { in: 'wrong' }).next()), 'EACCES', 'from a link to a denied place')
    })

    test('go on in mounts below, and stop where an exclusion says', {}, async (it) => {
      const site = await it.open({ skills: true })
      equal(await found(site, '*.md'), ['.solven/skills/system/search.md'], 'across a mount')
      equal(await found(site, '.solven/*/system/*'), ['.solven/skills/system/search.md'], 'by a path across a mount')
      equal(await found(site, ['*.md', '!system']), [], 'with the mount excluded')
      equal(await found(site, '*.md', { exclude: ['.solven'] }), [], 'with a directory above it excluded')
    })
  })
}
