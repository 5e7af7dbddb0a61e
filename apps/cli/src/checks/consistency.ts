import { checksDirectory, oddNames } from './host/fixtures.ts'
import { drain, expectEqual, expectRefusal, expectSame, expectTrue, quote } from './expect.ts'
import { skillsPath } from './site.ts'
import type { Check } from './types.ts'

/**
 * The four validation tests of the path-consistency document, each row of its method table, its examples, and later
 * findings.
 */
export const consistencyChecks: readonly Check[] = [
  {
    id: 'list-root',
    group: 'consistency',
    title: 'ls ROOT, list(ROOT) and the disk have the same names',
    async run(site) {
      const listed = (await Array.fromAsync(site.workspace.list(site.at))).map(({ name }) => name)
      const shell = await site.run(`LC_ALL=C ls -1A ${site.at}`)
      expectEqual(shell.stderr, '', 'ls')
      expectEqual(
        shell.stdout,
        byteSorted(listed)
          .map((name) => `${name}\n`)
          .join(''),
        'ls against list',
      )
      expectSame(listed, await site.world.stored.project.names(), 'list against the disk')
    },
  },
  {
    id: 'list-tree',
    group: 'consistency',
    title: 'find, list(recursive) and the disk have the same tree',
    async run(site) {
      const listed = (await Array.fromAsync(site.workspace.list(site.at, { recursive: true }))).map(({ path }) => path)
      const found = (await site.run(`find ${site.at} -mindepth 1 -print0 2>/dev/null`, { maxOutputBytes: 8 << 20 }))
        .stdout
      const inside = found.split('\0').filter((path) => path !== '' && !(site.at === '/' && isOfTheSystem(path)))
      expectSame(inside, listed, 'find against list')
      const skills = (await site.world.stored.skills.tree()).map((path) => site.path(skillsPath) + path)
      const disk = (await site.world.stored.project.tree()).map((path) => site.path(path))
      expectSame(listed, [...disk, ...skills], 'list against the disk')
    },
  },
  {
    id: 'exec-writes',
    group: 'consistency',
    title: "echo 'test data' > /test.txt is read through the API",
    async run(site) {
      const result = await site.run(`echo 'test data' > ${site.path('/test.txt')}`)
      expectEqual(result.exitCode, 0, result.stderr)
      expectEqual(await site.workspace.readText(site.path('/test.txt')), 'test data\n', 'read')
    },
  },
  {
    id: 'api-writes',
    group: 'consistency',
    title: 'write("/api-test.txt") is read by cat',
    async run(site) {
      await site.workspace.write(site.path('/api-test.txt'), 'api data')
      expectEqual((await site.run(`cat ${site.path('/api-test.txt')}`)).stdout, 'api data', 'cat')
    },
  },
  {
    id: 'outside-is-not-there',
    group: 'consistency',
    title: 'ls /mnt/r2/ shows nothing through either door',
    async run(site) {
      const result = await site.run('ls /mnt/r2/')
      expectEqual(result.stdout, '', 'ls')
      expectTrue(result.exitCode !== 0, 'ls succeeds')
      await expectRefusal(site, ['ENOENT'], 'list', () => drain(site.workspace.list('/mnt/r2/')))
    },
  },
  {
    id: 'read-file',
    group: 'consistency',
    title: 'cat /data.json and read("/data.json") give the same',
    async run(site) {
      const path = site.path('/data.json')
      expectEqual((await site.run(`cat ${path}`)).stdout, '{"key": "value"}', 'cat')
      expectEqual(await site.workspace.readText(path), '{"key": "value"}', 'read')
    },
  },
  {
    id: 'python-script',
    group: 'consistency',
    title: 'write("/script.py") is run by python /script.py',
    needs: { program: 'python3', package: 'python3' },
    async run(site) {
      const path = site.path('/script.py')
      await site.workspace.write(path, 'import os, sys\nprint(os.path.abspath(sys.argv[0]), os.getcwd())\n')
      const result = await site.run(`python3 ${path}`)
      expectEqual(result.stdout, `${path} ${site.at}\n`, result.stderr || 'python3')
    },
  },
  {
    id: 'skills',
    group: 'consistency',
    title: 'the skills mount is the same, with and without a slash',
    async run(site) {
      for (const path of [site.path(skillsPath), `${site.path(skillsPath)}/`]) {
        const listed = (await Array.fromAsync(site.workspace.list(path))).map(({ name }) => name)
        expectEqual(byteSorted(listed), ['SKILL.md', 'scripts'], `list("${path}")`)
        expectEqual((await site.run(`LC_ALL=C ls -1A ${path}`)).stdout, 'SKILL.md\nscripts\n', `ls ${path}`)
      }
      const file = site.path(`${skillsPath}/SKILL.md`)
      expectEqual((await site.run(`cat ${file}`)).stdout, await site.workspace.readText(file), 'cat against read')
    },
  },
  {
    id: 'working-directory',
    group: 'consistency',
    title: 'a login shell starts in the root; PWD and HOME say so',
    async run(site) {
      const options = { login: true, shell: undefined }
      const result = await site.run('pwd; echo "$PWD"; echo "$HOME"; echo "$USER"', options)
      expectEqual(result.stdout, `${site.at}\n${site.at}\n${site.at}\nuser\n`, 'pwd, PWD, HOME, USER')
      expectEqual(site.workspace.root, site.at, 'workspace.root')
    },
  },
  {
    id: 'bytes',
    group: 'consistency',
    title: 'every byte survives, in both directions',
    async run(site) {
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31 + (index >> 8)) % 256)
      const [from, to] = [
        site.path(`/${checksDirectory}/from-api.bin`),
        site.path(`/${checksDirectory}/from-shell.bin`),
      ]
      await site.workspace.write(from, bytes)
      const result = await site.run(`cat < ${quote(from)} > ${quote(to)} && wc -c < ${quote(to)}`)
      expectEqual(result.stdout.trim(), '70000', result.stderr)
      const back = await site.workspace.read(to)
      expectTrue(Buffer.from(bytes).equals(back.bytes), 'the bytes that come back are others')
    },
  },
  {
    id: 'odd-names',
    group: 'consistency',
    title: 'odd names are listed, read, moved and deleted alike',
    async run(site) {
      const names = oddNames.filter((name) => site.world.stored.project.controlCharacters || !/\p{Cc}/u.test(name))
      const directory = site.path(`/${checksDirectory}/odd`)
      for (const name of names) await site.workspace.write(`${directory}/${name}`, name)
      const words = names.map((name) => quote(`${directory}/${name}`)).join(' ')
      const inside = await site.run(`for f in ${words}; do cat "$f" && mv "$f" "$f+" || exit 1; printf '\\0'; done`)
      expectEqual(inside.stdout, names.map((name) => `${name}\0`).join(''), inside.stderr || 'cat')
      const listed = (await Array.fromAsync(site.workspace.list(directory))).map(({ name }) => name)
      expectSame(
        listed,
        names.map((name) => `${name}+`),
        'list after mv',
      )
      for (const name of names) await site.workspace.delete(`${directory}/${name}+`)
      expectEqual((await site.run(`ls -A ${quote(directory)}`)).stdout, '', 'ls after delete')
    },
  },
  {
    id: 'links',
    group: 'consistency',
    links: true,
    title: 'links lead to the same place, relative and absolute',
    async run(site) {
      const absolute = site.path(`/${checksDirectory}/sub/link-absolute`)
      await site.workspace.createSymlink(absolute, site.path('/data.json'))
      for (const link of [absolute, site.path(`/${checksDirectory}/sub/link-inside`)]) {
        expectEqual((await site.run(`cat ${quote(link)}`)).stdout, await site.workspace.readText(link), link)
      }
      expectEqual((await site.workspace.stat(absolute)).type, 'symlink', 'stat of a link')
      await site.run(`rm ${quote(absolute)}`)
      expectEqual(await site.workspace.exists(absolute), false, 'the link after rm')
    },
  },
  {
    id: 'dot-dot',
    group: 'consistency',
    title: '".." means the same, and stays below the root',
    async run(site) {
      const path = `${site.path(`/${checksDirectory}/sub`)}/../../data.json`
      expectEqual((await site.run(`cat ${quote(path)}`)).stdout, await site.workspace.readText(path), path)
      const above = `${site.at === '/' ? '' : site.at}/../../data.json`
      await expectRefusal(site, ['EOUTSIDE'], above, () => site.workspace.readText(above))
    },
  },
  {
    id: 'alias',
    group: 'consistency',
    only: '/',
    title: '/workspace/x is /x through both doors',
    async run(site) {
      expectEqual((await site.run('cat /workspace/data.json')).stdout, '{"key": "value"}', 'cat')
      expectEqual(await site.workspace.readText('/workspace/data.json'), '{"key": "value"}', 'read')
      await site.run(`echo alias > '/workspace/${checksDirectory}/alias.txt'`)
      expectEqual(await site.workspace.readText(`/${checksDirectory}/alias.txt`), 'alias\n', 'read by the other name')
    },
  },
  {
    id: 'scratch',
    group: 'consistency',
    title: '/tmp is the same, private, and no entry of /',
    async run(site) {
      await site.workspace.write('/tmp/from-api', 'api')
      const result = await site.run('cat /tmp/from-api && echo shell > /tmp/from-shell')
      expectEqual(result.stdout, 'api', result.stderr)
      expectEqual(await site.workspace.readText('/tmp/from-shell'), 'shell\n', 'read')
      const names = (await Array.fromAsync(site.workspace.list('/'))).map(({ name }) => name)
      expectTrue(!names.includes('tmp'), 'list("/") has tmp')
    },
  },
  {
    id: 'changes',
    group: 'consistency',
    title: 'mkdir, mv, chmod, rm at one door show at the other',
    processes: true,
    async run(site) {
      const directory = site.path(`/${checksDirectory}/changes`)
      await site.workspace.write(`${directory}/tool.sh`, '#!/bin/sh\necho first\n')
      const result = await site.run(
        `cd ${quote(directory)} && chmod 755 tool.sh && mkdir -p a/b && mv tool.sh a/b/ && a/b/tool.sh`,
      )
      expectEqual(result.stdout, 'first\n', result.stderr)
      await site.workspace.write(`${directory}/a/b/tool.sh`, '#!/bin/sh\necho second\n')
      await site.workspace.move(`${directory}/a`, `${directory}/c`)
      expectEqual(
        (await site.run(`${quote(`${directory}/c/b/tool.sh`)}; ls -A ${quote(directory)}`)).stdout,
        'second\nc\n',
        'after write and move',
      )
      await site.run(`rm -r ${quote(directory)}`)
      await expectRefusal(site, ['ENOENT'], 'list after rm', () => drain(site.workspace.list(directory)))
    },
  },
  {
    id: 'errors',
    group: 'consistency',
    title: 'what is missing or of another kind is so at both',
    async run(site) {
      const sub = site.path(`/${checksDirectory}/sub`)
      const below = site.world.stored.project.hierarchy
        ? ({ path: `${sub}/a.txt/x`, code: 'ENOTDIR', text: 'Not a directory' } as const)
        : ({ path: `${sub}/a.txt/x`, code: 'ENOENT', text: 'No such file' } as const)
      const cases = [
        { path: `${sub}/missing`, code: 'ENOENT', text: 'No such file' },
        { path: sub, code: 'EISDIR', text: 'Is a directory' },
        below,
      ] as const
      for (const { path, code, text } of cases) {
        await expectRefusal(site, [code], `read of ${path}`, () => site.workspace.read(path))
        const { stderr } = await site.run(`LC_ALL=C cat ${quote(path)}`)
        expectTrue(stderr.includes(text), `cat ${path}: ${stderr.trim()}`)
      }
    },
  },
]

const byteSorted = (names: readonly string[]): string[] =>
  names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

/** With a mount at `/`, the names that a walk meets and that are not entries of the workspace. */
const isOfTheSystem = (path: string): boolean =>
  /^\/(?:tmp|workspace|proc|dev|sys|run|etc|usr|bin|s?bin|lib\w*)(?:\/|$)/u.test(path)
