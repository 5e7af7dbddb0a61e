import { systemNames } from '@ws/core/executor'
import { equal } from '../assert.ts'
import { codeOf, type Site, skillsPath } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

/** Removes the system's names. With a root at `/`, commands list these names, but the file API does not. */
function withoutSystem(site: Site, paths: readonly string[]): string[] {
  const names = site.root === '/' ? [...systemNames, 'tmp', 'workspace'] : []
  return paths.filter((path) => !names.includes(path.split('/')[0] ?? '')).sort()
}

async function found(site: Site, directory = ''): Promise<string[]> {
  const output = await site.run(`cd ${site.at(directory)} && find . -mindepth 1 -print0`)
  return withoutSystem(
    site,
    output
      .split('\0')
      .filter(Boolean)
      .map((path) => path.replace(/^\.\//, '')),
  )
}

export function sameFilesTests({ describe, test }: DoorSuite): void {
  describe('the same files', () => {
    test('[PC1, PC6] are listed at the same paths, dotfiles included', {}, async (it) => {
      const site = await it.open({
        files: { '.env.example': 'x', 'src/main.py': '1', '.config/a': '1', 'a/b/c/d': '1' },
      })
      const listed = await site.listed()
      equal(await found(site), listed, 'what `find` sees')
      equal((await site.tree()).map((line) => line.replace(/^\w+ \//, '')).sort(), listed, 'what the store holds')
      equal(listed.includes('.env.example') && listed.includes('.config/a'), true, 'dotfiles are listed')
      const names = (await Array.fromAsync(site.workspace.list())).map(({ name }) => name).sort()
      equal(
        await site.run(`LC_ALL=C ls -1A ${site.at('')}`),
        names.map((name) => `${name}\n`).join(''),
        'what `ls` sees',
      )
      const entries = await Array.fromAsync(site.workspace.list(site.at('src')))
      equal(
        entries.map(({ path, name, type }) => ({ path, name, type })),
        [{ path: site.at('src/main.py'), name: 'main.py', type: 'file' }],
        'an entry',
      )
    })

    test('[RP4, RP18] ls of the root shows the workspace and nothing of the system', {}, async (it) => {
      const site = await it.open()
      equal(await site.run(`ls -A ${site.at('')}`), 'file.txt\n', 'the root')
    })

    test('[PC5, PC7] a command reads at once, byte for byte, what the file door writes', {}, async (it) => {
      const site = await it.open()
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256)
      await site.workspace.write('data.bin', bytes)
      const digest = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
      equal((await site.run('sha256sum < data.bin')).split(' ')[0], digest, 'the checksum')
      for (const text of ['first', 'the second, longer', '']) {
        await site.workspace.write('text', text)
        equal(await site.run(`cat ${site.at('text')}`), text, 'what a command reads')
      }
      await site.workspace.move('text', 'moved')
      await site.workspace.delete('data.bin')
      equal(await site.run('ls'), 'file.txt\nmoved\n', 'what a command lists')
    })

    test('[PC5, PC7] the file door reads at once, byte for byte, what a command writes', {}, async (it) => {
      const site = await it.open()
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 17) % 256)
      await site.workspace.write('data.bin', bytes)
      await site.run('cp data.bin copied; cat data.bin > redirected; cat < data.bin | tee teed > /dev/null')
      for (const path of ['copied', 'redirected', 'teed']) {
        equal((await site.workspace.read(path)).bytes, bytes, `the bytes of ${path}`)
      }
      for (const text of ['first', 'the second, longer']) {
        await site.run(`printf '%s' '${text}' > ${site.at('text')}`)
        equal(await site.workspace.readText('text'), text, 'what the file door reads')
        equal((await site.workspace.stat('text')).size, text.length, 'the size')
      }
      await site.run('mv text moved; rm -r copied redirected teed data.bin; mkdir made')
      equal(await site.listed(), ['file.txt', 'made', 'moved'], 'what the file door lists')
    })

    test('[PC5, PC7] what one door makes, moves, makes executable and removes the other sees', {
      kind: 'process',
    }, async (it) => {
      const site = await it.open()
      await site.workspace.write('work/tool.sh', '#!/bin/sh\necho first\n', { parents: true })
      equal(
        await site.run('chmod 755 tool.sh && mkdir -p a/b && mv tool.sh a/b/ && a/b/tool.sh', { cwd: 'work' }),
        'first\n',
        'what the moved program prints',
      )
      await site.workspace.write('work/a/b/tool.sh', '#!/bin/sh\necho second\n')
      await site.workspace.move('work/a', 'work/c')
      equal(
        await site.run(`${site.at('work/c/b/tool.sh')}; ls -A work`),
        'second\nc\n',
        'what the replaced program prints',
      )
      await site.run('rm -r work')
      equal(await codeOf(site.workspace.list('work').next()), 'ENOENT', 'what is left')
    })

    test('[RP17] a read-only mount is there at both doors', {}, async (it) => {
      if (it.guarantees.readOnlyMounts === 'none') it.skip('guarantee readOnlyMounts: none')
      const site = await it.open({ skills: true })
      const skill = site.at(`${skillsPath}/search.md`)
      equal(await site.workspace.readText(skill), 'how to search\n', 'what the file door reads')
      for (const place of [site.at(skillsPath), `${site.at(skillsPath)}/`]) {
        equal(
          await site.run(`cat ${skill}; ls -A ${place}`),
          'how to search\nsearch.md\n',
          `what a command reads in ${place}`,
        )
        const names = (await Array.fromAsync(site.workspace.list(place))).map(({ name }) => name)
        equal(names, ['search.md'], `what the file door lists in ${place}`)
      }
      equal(await found(site), await site.listed(), 'what `find` sees')
    })

    test('[PC14] skills are there without links, as a mount', {}, async (it) => {
      if (it.guarantees.readOnlyMounts === 'none') it.skip('guarantee readOnlyMounts: none')
      const site = await it.open({ skills: true, layer: withoutLinks })
      equal(await codeOf(site.workspace.createSymlink('link', 'file.txt')), 'ENOTSUP', 'a link')
      equal((await site.workspace.stat(skillsPath)).type, 'directory', 'what the skills are')
      const shown = 'test -d "$1" && test ! -h "$1" && cat "$1"/search.md'
      equal(await site.run(`set -- ${site.at(skillsPath)}; ${shown}`), 'how to search\n', 'what a command reads')
      equal(await site.workspace.readText(`${skillsPath}/search.md`), 'how to search\n', 'what the file door reads')
    })

    test('[RP20] /tmp is the workspace’s own, the same at both doors, and listed nowhere', {}, async (it) => {
      const site = await it.open()
      const other = await it.open()
      await site.workspace.write('/tmp/a.txt', 'mine')
      equal(
        await site.run('cat /tmp/a.txt; echo two > /tmp/b.txt; ls -A /tmp'),
        'minea.txt\nb.txt\n',
        'what a command sees',
      )
      equal(await site.workspace.readText('/tmp/b.txt'), 'two\n', 'what the file door reads')
      equal(await other.run('ls -A /tmp'), '', 'what another workspace sees')
      equal(await codeOf(other.workspace.read('/tmp/a.txt')), 'ENOENT', 'the file in another workspace')
      const names = (await Array.fromAsync(site.workspace.list('/'))).map(({ name }) => name)
      equal(names.includes('tmp'), false, 'tmp is listed in /')
      equal(await site.tree(), ['file /file.txt'], 'the store')
    })
  })
}

function withoutLinks(store: Site['store']): Site['store'] {
  const capabilities = { ...store.capabilities, symlinks: false }
  const hidden: readonly PropertyKey[] = ['createSymlink', 'readSymlink']
  return new Proxy(store, {
    get(target, key) {
      if (key === 'capabilities') return capabilities
      if (hidden.includes(key)) return undefined
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    has: (target, key) => !hidden.includes(key) && Reflect.has(target, key),
  })
}
