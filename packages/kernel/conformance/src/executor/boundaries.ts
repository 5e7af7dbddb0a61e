import { paths } from '@ws/core'
import { satisfies } from '@ws/core/executor'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { check, equal, rejects } from '../assert.ts'
import { neighbourSecret } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'
import { createOutside, createVictim, listen } from './outside.ts'

const connect = (address: string): string =>
  `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, pack("S a*", 1, ${address})) and print "reached"'`

const serve =
  `exec perl -MSocket -e '$| = 1; socket(S, PF_INET, SOCK_STREAM, 0); bind(S, pack_sockaddr_in(0, INADDR_LOOPBACK)); ` +
  `listen(S, 5); print +(unpack_sockaddr_in(getsockname(S)))[0]; sleep'`
const ask = (port: number): string =>
  `perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0); connect(S, pack_sockaddr_in(${port}, INADDR_LOOPBACK)) and print "reached"'`

/** Tests boundaries that need no rule, at the level that the executor declares. */
export function boundaryTests({ describe, test }: DoorSuite): void {
  describe('guarantees', () => {
    test('fileContent: nothing outside the mounts is read', { holds: ['fileContent'] }, async (it) => {
      await using outside = await createOutside()
      const site = await it.open()
      const climbing = `${'../'.repeat(20)}${outside.file.slice(1)}`
      const ofTheKernel = ['/proc/1/root', '/proc/self/root', '/proc/*/root'].map((root) => root + outside.file)
      for (const path of [
        outside.file,
        climbing,
        `/proc/self/cwd/${climbing}`,
        '../t12/secret.txt',
        `${it.root}/../t12/secret.txt`,
        ...(satisfies(it.guarantees.fileContent, 'kernel') ? [...ofTheKernel, `/proc/*/cwd/${climbing}`] : []),
      ]) {
        const seen = await site.attack(
          `cat ${path}; ls -a ${outside.directory} && cat ${outside.directory}/*; cp ${path} copy; cat copy`,
        )
        check(!seen.includes(outside.secret) && !seen.includes(neighbourSecret), `${path} was read from outside`)
      }
      for (const read of [() => site.workspace.read(outside.file), () => site.workspace.stat(outside.file)]) {
        await rejects(read(), ['ENOENT', 'ENOTDIR'], { what: 'a path of this machine at the file door' })
      }
    })

    test('fileContent: nothing outside the mounts is changed', { holds: ['fileContent'] }, async (it) => {
      await using outside = await createOutside()
      const site = await it.open()
      const { directory, file } = outside
      await site.attempt(
        `echo evil > ${file}; rm -f ${file}; mv ${file} x; cp file.txt ${directory}/new; mkdir ${directory}/d`,
      )
      equal(await outside.content(), outside.secret, 'the file outside')
      equal(await outside.names(), ['secret.txt'], 'the directory outside')
    })

    test('fileContent: links lead nowhere outside', { holds: ['fileContent'], symlinks: true }, async (it) => {
      await using outside = await createOutside()
      const site = await it.open()
      await site.link('out', outside.file)
      await site.link('up', '../t12')
      const seen = await site.attack(
        `cat out; cat up/secret.txt; ln -s ../../../.. made; cat made/*/secret.txt; echo evil > out; echo evil >> out; ` +
          `ln -s ${outside.directory} directory; ln -s ${outside.file} file; ls directory/; cat file`,
      )
      check(!seen.includes(outside.secret) && !seen.includes(neighbourSecret), 'a link led outside')
      const nothing = { what: 'a link to outside at the file door' }
      for (const path of ['out', 'file', 'directory/secret.txt', 'up/secret.txt'])
        await rejects(site.workspace.read(path), ['ENOENT', 'EOUTSIDE', 'ENOTDIR'], nothing)
      await rejects(site.workspace.list('directory/sub').next(), ['ENOENT', 'ENOTDIR'], nothing)
      await site.workspace.write('directory/secret.txt', 'evil').catch(() => undefined) // only the file outside matters
      equal(await outside.content(), outside.secret, 'the file outside')
    })

    test('fileMetadata: an outside path cannot be told from a missing one', {
      holds: ['fileMetadata'],
    }, async (it) => {
      await using outside = await createOutside()
      const site = await it.open()
      const { directory, file } = outside
      const words = (text: string): string => text.replaceAll(/secret|absent/g, 'x')
      for (const probe of ['ls -ld', 'test -e', 'cat', 'cd']) {
        const [there, absent] = await Promise.all(
          [file, join(directory, 'absent.txt')].map((path) => site.attempt(`${probe} ${path}`)),
        )
        equal(
          [there?.exitCode, words(`${there?.stdout}${there?.stderr}`)],
          [absent?.exitCode, words(`${absent?.stdout}${absent?.stderr}`)],
          `${probe} of what is outside`,
        )
        check(there?.exitCode !== 0, `${probe} ${file} succeeded`)
      }
    })

    test('sockets: no socket of the host is reached', { kind: 'process', holds: ['sockets'] }, async (it) => {
      await using outside = await createOutside()
      const path = join(outside.directory, 'socket')
      const name = `ws-conformance-${randomUUID()}`
      await using named = await listen(path)
      await using abstract = await listen(`\0${name}`)
      const site = await it.open()
      if ((await site.attempt('perl -MSocket -e 1')).exitCode !== 0) it.skip('needs perl')
      const { stdout } = await site.attempt(`${connect(`"${path}\\0"`)}; ${connect(`"\\0${name}"`)}`)
      equal([stdout, await named.reached(), await abstract.reached()], ['', 0, 0], 'output and connections')
    })

    test('network: no network is reached', { holds: ['network'] }, async (it) => {
      await using server = await listen({ host: '127.0.0.1', port: 0 })
      const site = await it.open()
      if ((await site.attempt('command -v bash')).exitCode !== 0) it.skip('needs bash')
      const { stdout } = await site.attempt(
        `(exec 3<> /dev/tcp/127.0.0.1/${server.port} && cat <&3); curl -s http://127.0.0.1:${server.port}`,
        { shell: 'bash', timeout: 10_000 },
      )
      check(!stdout.includes('hello'), 'a command read from a server of the host')
      equal(await server.reached(), 0, 'connections that reached the host')
    })

    test('network: a server is reached by the commands of its workspace, and by no other one', {
      kind: 'process',
    }, async (it) => {
      const [site, other] = [await it.open(), await it.open()]
      if (site.workspace.executor?.sharesLoopback !== true) it.skip('the commands of a workspace share no loopback')
      if ((await site.attempt('perl -MSocket -e 1')).exitCode !== 0) it.skip('needs perl: apt-get install perl')
      const said = Promise.withResolvers<string>()
      const server = await site.workspace.start(serve, {
        onOutput: ({ data }) => said.resolve(Buffer.from(data).toString()),
      })
      try {
        const port = Number(await said.promise)
        equal(await site.workspace.ports(), [{ port }], 'the ports of the workspace')
        equal(await other.workspace.ports(), [], 'the ports of the other workspace')
        const seen = await Promise.all([site, other].map((one) => one.attempt(ask(port))))
        equal([seen[0]?.stdout, seen[1]?.stdout], ['reached', ''], 'the answers to both')
      } finally {
        server.kill('SIGKILL')
        await server.wait()
      }
    })

    test('processes: none of the host is seen or signalled', { kind: 'process', holds: ['processes'] }, async (it) => {
      const site = await it.open()
      const owner = (await site.store.hostDirectory?.(paths.parseMount('/')))?.owner
      await using victim = await createVictim(owner)
      const seen = await site.attack(
        `kill -TERM ${victim.pid}; kill -KILL ${victim.pid}; cat /proc/${victim.pid}/environ /proc/*/environ /proc/*/cmdline 2> /dev/null | tr "\\0" "\\n"`,
      )
      check(!seen.includes(victim.secret), 'the environment or the command line of a process of the host was read')
      equal(await victim.lives(), true, 'the process of the host lives')
    })
  })
}
