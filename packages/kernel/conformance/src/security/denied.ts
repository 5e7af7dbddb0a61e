import { isWorkspaceError, rules } from '@ws/core'
import { check, equal } from '../assert.ts'
import { codeOf, type Site, type SiteOptions } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

const protectedContent = 'KEY-NEEDLE'

const attacks: readonly string[] = [
  'cat work/private/key; cat < work/private/key; ls -R work; cd work/private && cat key',
  'find . -type f -exec cat {} +; cat work/*/key; grep -r NEEDLE work; awk 1 work/private/key',
  'cp -r work copied; cat copied/private/key; tar cf t.tar -C work . ; cat t.tar',
  'mv work/private p; cat p/key; mkdir -p work/private; echo evil > work/private/key; cat work/private/key',
  'mv work moved; cat moved/private/key; mkdir -p work/private && echo evil > work/private/key',
  'ln -s work/private l; cat l/key; ln work/private/key hard; cat hard; chmod -R 777 work; cat work/private/key',
  'cat work/private/../private/key ./work//private/./key; source work/private/key',
  'rm -rf work/private; echo evil > work/private/key; rmdir work/private; rm -rf work',
]

const processAttacks: readonly string[] = [
  'cat /proc/self/root/$PWD/work/private/key /proc/self/cwd/work/private/key /proc/1/root/$PWD/work/private/key',
  'umount work/private; umount -l $PWD/work/private; cat work/private/key',
  'unshare -Urm sh -c "umount -l $PWD/work/private; cat work/private/key"; unshare -Ur chroot . cat /work/private/key',
  'mkdir b; unshare -Urm sh -c "mount --bind work b; cat b/private/key"; cat b/private/key',
]

export function deniedTests({ describe, test }: DoorSuite): void {
  const open = (files: Readonly<Record<string, string>> = {}): SiteOptions => ({
    files: { 'work/a': '1', 'work/private/key': protectedContent, 'work/z': '2', ...files },
    rules: (at) => [rules.deny(at('work/private'))],
  })

  describe('a denied subtree', () => {
    describe('is neither read nor changed by', () => {
      for (const [index, attack] of [...attacks, ...processAttacks].entries()) {
        const kind = index < attacks.length ? {} : ({ kind: 'process' } as const)
        test(attack, { withstands: ['deniedSubtrees'], ...kind }, async (it) => {
          const site = await it.open(open())
          const { stdout, stderr } = await site.attempt(attack)
          check(!stdout.includes('NEEDLE') && !stderr.includes('NEEDLE'), `the key was read: ${stdout}${stderr}`)
          equal(await site.stored('work/private/key'), protectedContent, 'the key')
          equal(await codeOf(site.workspace.read('work/private/key')), 'EACCES', 'the key at the file door')
        })
      }
    })

    test('stops what is recursive at the file door, before anything is touched', {}, async (it) => {
      const site = await it.open(open())
      const before = await site.tree()
      const { workspace } = site
      equal(await codeOf(workspace.delete('work', { recursive: true })), 'EACCES', 'delete')
      equal(await codeOf(workspace.copy('work', 'copy')), 'EACCES', 'copy')
      equal(await codeOf(workspace.move('work', 'moved')), 'EACCES', 'move')
      equal(await codeOf(workspace.copy('work/private/key', 'key')), 'EACCES', 'copy out of it')
      equal(await codeOf(workspace.move('file.txt', 'work/private', { overwrite: true })), 'EACCES', 'move over it')
      equal(await site.tree(), before, 'the store')
    })

    test('is listed by name, and neither entered nor searched', {}, async (it) => {
      const site = await it.open(open({ 'public/key': protectedContent }))
      const listed = await site.listed()
      equal([listed.includes('work/private'), listed.includes('work/private/key')], [true, false], 'what is listed')
      const hits = await Array.fromAsync(site.workspace.search('NEEDLE'))
      equal(
        hits.map(({ path }) => path),
        [site.at('public/key')],
        'the hits',
      )
      equal(await codeOf(site.workspace.list('work/private').next()), 'EACCES', 'list')
      equal(await codeOf(site.workspace.stat('work/private')), 'EACCES', 'stat')
      if (it.guarantees.deniedSubtrees === 'none') return
      equal((await site.run('ls work')).includes('private'), true, 'a command lists its name')
      equal((await site.attempt('ls -A work/private')).stdout, '', 'what a command lists in it')
      const { enforcedBy } = await site.workspace.explain({ operation: 'read', path: 'work/private/key' })
      equal(enforcedBy, { files: 'interpreter', exec: it.guarantees.deniedSubtrees }, 'what explain says')
    })

    test('is denied through links, aliases and `..`', {
      holds: ['deniedSubtrees'],
      symlinks: true,
    }, async (it) => {
      const site = await it.open(open())
      await site.link('link', 'work/private/key')
      await site.link('dir', 'work')
      const relative = ['link', 'dir/private/key', 'dir/../work/private/key', './/work//private/key']
      const ways = [...relative, ...relative.map(site.at.bind(site))]
      if (it.root === '/') ways.push('/workspace/work/private/key', '/workspace/link')
      await denied(site, ways)
    })

    test('is denied under other spellings of its name that are there', {
      withstands: ['deniedSubtrees'],
    }, async (it) => {
      const site = await it.open({
        files: { 'conf/.env': 'NEEDLE', 'conf/.ENV': 'NEEDLE too' },
        rules: (at) => [rules.deny(at('conf/.env'))],
      })
      await denied(site, [site.at('conf/.env'), site.at('conf/.ENV')])
      const { stdout } = await site.attempt(
        'cd conf; chmod 644 .env .ENV; cat .env .ENV; mv .env x; cat x; ln .env y; cat y',
      )
      equal(stdout, '', 'what a command prints')
      equal(await site.stored('conf/.env'), 'NEEDLE', 'the file')
    })

    test('[RU2] that is not there yet is held, or refused to start, and leaves nothing behind', {
      holds: ['deniedSubtrees'],
    }, async (it) => {
      const site = await it.open({ files: { 'dir/x': 'x' }, rules: (at) => [rules.deny(at('dir/secret'))] })
      let refused: unknown
      try {
        await site.run('true')
      } catch (error) {
        refused = error
      }
      if (refused === undefined) {
        for (const attack of ['echo x > dir/secret', 'mkdir dir/secret/y', 'mv dir/x dir/secret && cat dir/secret'])
          check((await site.attempt(attack)).exitCode !== 0, `${attack} succeeded`)
      } else check(isWorkspaceError(refused, 'EUNENFORCEABLE'), 'a command is neither run nor refused for the rule')
      const tree = (await site.tree()).filter((entry) => !entry.endsWith('/file.txt'))
      equal(tree, ['directory /dir', 'file /dir/x'], 'the store')
      const deeper = await it.open({ rules: (at) => [rules.deny(at('none/secret'))] })
      const code = await codeOf(deeper.attempt('mkdir none/secret; echo x > none/secret'))
      check(code === 'done' || code === 'EUNENFORCEABLE', `a command fails with ${code}`)
      equal(await deeper.tree(), ['file /file.txt'], 'a store without the parent')
      equal(await codeOf(site.workspace.stat('dir/secret')), 'EACCES', 'at the file door')
      equal(await codeOf(site.workspace.write('dir/secret', 'x')), 'EACCES', 'at the file door')
    })

    test('behind a link is held, or refused to start', { holds: ['deniedSubtrees'], symlinks: true }, async (it) => {
      const site = await it.open({
        files: { 'real/secret/x': 'NEEDLE' },
        rules: (at) => [rules.deny(at('dir/secret'))],
      })
      await site.link('dir', 'real')
      const refused: unknown = await site.attempt('true').then(
        () => undefined,
        (error: unknown) => error,
      )
      if (refused !== undefined) {
        const isClear = isWorkspaceError(refused, 'EUNENFORCEABLE') && /link/.test(refused.message)
        check(isClear, 'a command is neither run nor refused for the link')
        return
      }
      const { stdout } = await site.attempt('cat dir/secret/x; cat real/secret/x')
      // the rule does not name the real path, but binds also protect the real path
      equal(stdout, it.guarantees.deniedSubtrees === 'interpreter' ? 'NEEDLE' : '', 'what a command prints')
      await site.attempt('echo x > dir/secret/x; echo x > dir/secret/y; rm -r dir/secret')
      equal(await site.stored('real/secret/x'), 'NEEDLE', 'the file')
    })
  })

  describe('legitimate work beside a protected part', () => {
    test('goes on', { holds: ['deniedSubtrees'] }, async (it) => {
      const site = await it.open({
        files: { 'src/a/f': 'f', 'src/b/g': 'g', 'src/b/locked/h': 'h' },
        rules: (at) => [rules.deny(at('src/b/locked'))],
      })
      await site.run('cd src && mv a/f a/f2 && mv b/g b/g2 && mkdir c && mv a/f2 c/ && mv c/f2 b/ && echo more >> b/g2')
      equal(await site.workspace.readText('src/b/g2'), 'gmore\n', 'what was appended')
      equal(await site.workspace.readText('src/b/f2'), 'f', 'what was moved')
      await site.workspace.move('src/b/f2', 'src/f3')
      equal(await site.run('cat src/f3'), 'f', 'what was moved back')
      // Does not move a directory on a bucket mount, where a file can appear empty if its directory is renamed before the upload.
      const moves = site.store.capabilities.atomicDirectoryMove ? 'mv a b && mv b/x y' : 'mv a/x y'
      equal(
        await site.run(`mkdir -p d/a && cd d && echo one > a/x && ${moves} && cp y z && rm z && cat y`),
        'one\n',
        'mkdir, mv, cp, rm',
      )
      if (site.store.capabilities.symlinks) equal(await site.run('ln -s y d/l && cat d/l'), 'one\n', 'ln')
    })

    test('explain lists the borders of rename', { kind: 'process', withstands: ['deniedSubtrees'] }, async (it) => {
      const site = await it.open({
        files: { 'src/b/f': 'f', 'src/b/locked/h': 'h' },
        rules: (at) => [rules.deny(at('src/b/locked'))],
      })
      const { renameBorders } = await site.workspace.explain({ operation: 'move', path: 'src/b/f' })
      check(renameBorders?.some((path) => path === site.at('src/b')) === true, 'the border is not listed')
      if ((await site.attempt('command -v perl')).exitCode !== 0) it.skip('needs perl')
      const { stderr } = await site.attempt(`perl -e 'rename("src/b/f", "src/f") or print STDERR $!'`)
      check(/cross-device/i.test(stderr), `the rename across it says: ${stderr}`)
    })
  })
}

async function denied(site: Site, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    equal(await codeOf(site.workspace.read(path)), 'EACCES', `${path} at the file door`)
    equal(await codeOf(site.workspace.write(path, 'evil')), 'EACCES', `writing ${path} at the file door`)
    const { stdout, exitCode } = await site.attempt(`cat '${path}'; echo evil > '${path}'`)
    check(stdout === '' && exitCode !== 0, `a command read or wrote ${path}: ${stdout}`)
  }
}
