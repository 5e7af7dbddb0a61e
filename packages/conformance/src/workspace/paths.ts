import { rules } from '@ws/core'
import { check, equal } from '../assert.ts'
import { codeOf, neighbourSecret } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

/** The words of the kernel, and so of a command, for a code of the file door. */
const words: Readonly<Record<string, string>> = { ENOENT: 'No such file or directory', ENOTDIR: 'Not a directory' }

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
      ]) {
        const api = await site.workspace.readText(path).catch((error: { readonly code: string }) => error.code)
        const { stdout, stderr } = await site.attempt(`cat ${path}`)
        const refused = words[api]
        if (refused === undefined && api !== 'EISDIR') equal(stdout, api, `what a command reads from ${path}`)
        else
          check(
            stdout === '' && stderr.includes(refused ?? ''),
            `${path} is ${api} at the file door, in a command: ${stdout}${stderr}`,
          )
      }
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
      for (const path of [
        '../t12/secret.txt',
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
    })

    test('[PC12, PC19] of links that lead outside lead nowhere', { symlinks: true }, async (it) => {
      const site = await it.open()
      await site.link('out', '/etc/passwd')
      await site.link('sibling', '../t12')
      check(!(await site.attempt('cat sibling/secret.txt')).stdout.includes(neighbourSecret), 'a link led to a sibling')
      for (const path of ['out', 'sibling/secret.txt']) equal(await codeOf(site.workspace.read(path)), 'ENOENT', path)
    })

    test('of links inside lead where they say, absolute targets in the workspace too', {
      symlinks: true,
    }, async (it) => {
      const site = await it.open()
      await site.link('in', 'file.txt')
      await site.link('absolute', site.at('file.txt'))
      for (const path of ['in', 'absolute']) {
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
