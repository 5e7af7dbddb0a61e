import { paths, rules } from '@ws/core'
import { check, equal, rejects } from '../assert.ts'
import { above, codeOf, neighbourSecret } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

/** The kernel's message, which commands print, for each error code of the file API. */
const words: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  ENOTDIR: 'Not a directory',
  EISDIR: 'Is a directory',
}

const refusalCodes = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EACCES', 'EEXIST', 'EOUTSIDE'] as const

export function pathTests({ describe, test }: DoorSuite): void {
  describe('paths', () => {
    test('[PC3] in every spelling mean the same', {}, async (it) => {
      const site = await it.open({ files: { 'dir/x': 'x', 'dir/sub/y': 'y' } })
      for (const path of [
        './/dir///x',
        './dir/./x',
        'file.txt/',
        'dir/x/',
        'dir/sub/../x',
        'dir/none/../x',
        'file.txt/../dir/x',
        'dir/x/..',
        'dir',
        'dir/none',
      ]) {
        const api = await site.workspace.readText(path).catch((error: { readonly code: string }) => error.code)
        const { stdout, stderr } = await site.attempt(`LC_ALL=C cat ${path}`)
        const refused = words[api]
        if (refused === undefined) equal(stdout, api, `what a command reads from ${path}`)
        else
          check(
            stdout === '' && stderr.includes(refused),
            `${path} is ${api} at the file door, in a command: ${stdout}${stderr}`,
          )
      }
      equal(await codeOf(site.workspace.read('dir')), 'EISDIR', 'a directory that is read')
      equal(await codeOf(site.workspace.read('dir/none')), 'ENOENT', 'what is not there')
      const below = site.store.capabilities.enforcesHierarchy ? 'ENOTDIR' : 'ENOENT'
      equal(await codeOf(site.workspace.read('dir/x/below')), below, 'a path below a file')
      for (const path of ['', '.', './', 'dir/..', site.at('')]) {
        equal((await site.workspace.stat(path)).type, 'directory', `the root as \`${path}\``)
      }
    })

    test('[PC3] `..` behind a link is the parent of where it leads', { symlinks: true }, async (it) => {
      const site = await it.open({ files: { 'a/b/x': 'bx', 'a/y': 'ay', y: 'root y' } })
      await site.link('link', 'a/b')
      for (const path of ['link/../y', 'link/x', 'link/../b/x']) {
        equal(await site.workspace.readText(path), await site.run(`cat ${path}`), `what ${path} reads`)
      }
      equal(await site.workspace.readText('link/../y'), 'ay', 'link/../y')
    })

    test('[PC12, PC19] never lead to a sibling of the root, nor to a mount of the host', {}, async (it) => {
      const site = await it.open()
      for (const name of ['t2', 't1-old']) {
        const store = await it.fixture.createStore(name)
        await store.write(paths.parseMount('/secret.txt'), new TextEncoder().encode(neighbourSecret))
        await store.close()
      }
      const siblings = ['t12', 't2', 't1-old'].map((name) => `../${name}/secret.txt`)
      for (const path of [
        ...siblings,
        '/../t12/secret.txt',
        `${site.at('')}/../t12/secret.txt`,
        '../../threads/t12/secret.txt',
        '/mnt/r2/x',
      ]) {
        const { stdout, exitCode } = await site.attempt(`cat ${path}`)
        check(!stdout.includes(neighbourSecret) && exitCode !== 0, `a command read ${path}`)
        const code = await codeOf(site.workspace.read(path))
        check(code === 'EOUTSIDE' || code === 'ENOENT', `${path} is ${code} at the file door`)
      }
      equal(
        await codeOf(site.workspace.read(`${it.root}/${above(it.root)}/file.txt`)),
        'EOUTSIDE',
        'a path that climbs above `/`',
      )
      const mounts = await site.attempt('ls /mnt/r2/')
      check(mounts.stdout === '' && mounts.exitCode !== 0, 'a command lists /mnt/r2')
      equal(await codeOf(site.workspace.list('/mnt/r2/').next()), 'ENOENT', '/mnt/r2 at the file door')
    })

    test('[PC12, PC19] of this machine name nothing in the workspace, and no error shows one', {}, async (it) => {
      const site = await it.open({ files: { 'no/x': 'x', 'dir/x': 'x' }, rules: (at) => [rules.deny(at('no'))] })
      const hosts = site.hostPaths()
      if (hosts.length === 0) it.skip('capability hostPath: false')
      const { workspace } = site
      for (const host of hosts)
        for (const way of [() => workspace.read(`${host}/secret.txt`), () => workspace.stat(host)])
          await rejects(way(), ['ENOENT', 'ENOTDIR'], { what: 'a path of this machine at the file door' })
      const ways = [
        ...['none', 'dir', 'file.txt/x', '/../..'].map((path) => () => workspace.read(path)),
        ...[() => workspace.list('none').next(), () => workspace.delete('dir'), () => workspace.write('no/x', '')],
        ...[() => workspace.move('file.txt', 'dir'), () => workspace.copy('no', 'dir')],
      ]
      for (const way of ways) {
        const { message } = await rejects(way(), refusalCodes)
        check(!hosts.some((host) => message.includes(host)), `an error shows a path of this machine: ${message}`)
      }
      const plain = await it.open()
      for (const host of plain.hostPaths().slice(1)) {
        const seen = await plain.attack(
          `cat ${host}/secret.txt; ls -a .. ../.. ${host}; cp ${host}/secret.txt x; cat x`,
        )
        check(!seen.includes(neighbourSecret), 'a command read a sibling by its path on this machine')
      }
    })

    test('[PC12, PC19] of links that lead outside lead nowhere', { symlinks: true }, async (it) => {
      const site = await it.open()
      await site.link('out', '/etc/passwd')
      await site.link('sibling', '../t12')
      check(!(await site.attempt('cat sibling/secret.txt')).stdout.includes(neighbourSecret), 'a link led to a sibling')
      for (const path of ['out', 'sibling/secret.txt']) equal(await codeOf(site.workspace.read(path)), 'ENOENT', path)
    })

    test('of links made at the file door lead there in commands, until a command removes them', {
      symlinks: true,
    }, async (it) => {
      const site = await it.open({ files: { 'dir/sub/x': 'x' } })
      await site.workspace.createSymlink('dir/sub/link', '../../file.txt')
      equal(await site.workspace.readText('dir/sub/link'), 'a file\n', 'what the file door reads')
      equal(await site.run(`cat ${site.at('dir/sub/link')}`), 'a file\n', 'what a command reads')
      equal((await site.workspace.stat('dir/sub/link')).type, 'symlink', 'the type')
      await site.run(`rm ${site.at('dir/sub/link')}`)
      equal(await site.workspace.exists('dir/sub/link'), false, 'the link after rm')
    })

    test('of links inside lead where they say, absolute targets in the workspace too', {
      symlinks: true,
    }, async (it) => {
      const site = await it.open()
      await site.link('in', 'file.txt')
      await site.link('absolute', site.at('file.txt'))
      await site.workspace.createSymlink('made', site.at('file.txt'))
      for (const path of ['in', 'absolute', 'made']) {
        equal(await site.workspace.readText(path), 'a file\n', `what the file door reads from ${path}`)
        equal(await site.run(`cat ${path}`), 'a file\n', `what a command reads from ${path}`)
      }
    })

    test('[PC18] match by component: a name that begins alike is another one', {
      holds: ['deniedSubtrees'],
    }, async (it) => {
      const site = await it.open({
        files: { 'threads/t1/x': 'one', 'threads/t12/x': 'twelve', 'threads/t/x': 'none' },
        rules: (at) => [rules.deny(at('threads/t1'))],
      })
      for (const [path, content] of [
        ['threads/t12/x', 'twelve'],
        ['threads/t/x', 'none'],
      ] as const) {
        equal(await site.workspace.readText(path), content, `what the file door reads from ${path}`)
        equal(await site.run(`cat ${site.at(path)}`), content, `what a command reads from ${path}`)
        await site.workspace.write(path, content)
      }
      equal(await codeOf(site.workspace.read('threads/t1/x')), 'EACCES', 'what is denied')
      equal((await site.attempt(`cat ${site.at('threads/t1/x')}`)).stdout, '', 'what is denied, in a command')
    })

    test('[FS13] the alias is the root: one exact leading segment, once', { root: '/' }, async (it) => {
      const site = await it.open({ files: { 'workspaces/x': 's', 'workspace_backup/x': 'b' } })
      equal(await site.workspace.readText('/workspace/file.txt'), 'a file\n', 'what the file door reads')
      equal(
        await site.run('cat /workspace/file.txt; cd /workspace; cat file.txt; ls -d workspaces'),
        'a file\na file\nworkspaces\n',
        'what a command reads',
      )
      equal(await codeOf(site.workspace.read('/workspace/../escape')), 'EOUTSIDE', 'climbing above the alias')
      equal(await codeOf(site.workspace.read('/workspace/workspace/file.txt')), 'ENOENT', 'the alias twice')
      equal(await site.workspace.readText('/workspaces/x'), 's', 'a longer name')
      equal(await site.workspace.readText('/workspace_backup/x'), 'b', 'a longer name')
      await site.run('echo new > /workspace/new.txt')
      equal(await site.stored('new.txt'), 'new\n', 'what a command wrote')
    })

    test('above the mount nothing can be written', { root: '/workspace' }, async (it) => {
      const site = await it.open()
      equal(await codeOf(site.workspace.write('/x', '')), 'EROFS', 'at the file door')
      const { exitCode, stderr } = await site.attempt('echo x > /x')
      check(
        exitCode !== 0 && /Read-only file system|Permission denied|EUNENFORCEABLE/.test(stderr),
        `a command wrote /x: ${stderr}`,
      )
    })
  })
}
