import { isWorkspaceError } from '@ws/core'
import { guaranteeFields, satisfies, scratchName, systemNames, type GuaranteeField } from '@ws/core/executor'

import {
  drain,
  expectEqual,
  expectHidden,
  expectRefusal,
  expectSame,
  expectTrue,
  quote,
  refusedWhenRequired,
  toItsEnd,
} from './expect.ts'
import { diskText } from './host/disk.ts'
import { checksDirectory } from './host/fixtures.ts'
import { awaitProcesses, childAbove } from './host/processes.ts'
import { secretVariable } from './host/world.ts'
import { skillsPath } from './site.ts'
import type { Check, Site } from './types.ts'

const python = { program: 'python3', package: 'python3' } as const

/** Nothing outside can be reached by either door, and nothing is left behind. */
export const isolationChecks: readonly Check[] = [
  {
    id: 'siblings',
    group: 'isolation',
    title: 'threads/t1 never reaches threads/t12 or a sibling',
    async run(site) {
      for (const sibling of site.world.siblings) {
        const name = sibling.slice(sibling.lastIndexOf('/') + 1)
        const above = `${site.at === '/' ? '' : site.at}/../${name}/secret.txt`
        await expectRefusal(site, ['EOUTSIDE', 'ENOENT'], `read of ${above}`, () => site.workspace.read(above))
        await unreachable(
          site,
          `cat ../${name}/secret.txt ${quote(sibling)}/secret.txt; ls -a .. ../.. ${quote(sibling)}`,
        )
        await hiddenAtApi(site, `${sibling}/secret.txt`)
      }
    },
  },
  {
    id: 'host-files',
    group: 'isolation',
    title: "the host's files are not there, by any path",
    async run(site) {
      const { outside } = site.world
      await hiddenAtApi(site, outside)
      const climbs = `../../../../../../../..${outside}`
      await unreachable(
        site,
        `cat ${quote(outside)} ${quote(climbs)} /proc/self/cwd/${climbs}; cp ${quote(outside)} ./stolen; cat ./stolen`,
      )
      await site.workspace.delete(site.path('/stolen'), { force: true })
      if (satisfies(site.guarantees.fileContent, 'kernel')) {
        await unreachable(
          site,
          `cat /proc/1/root${outside} /proc/self/root${outside} /proc/*/root${outside} /proc/*/cwd/${climbs}`,
        )
      }
    },
  },
  {
    id: 'host-metadata',
    group: 'isolation',
    title: "not even a name, a size or a time of the host's files",
    async run(site) {
      const { outside, directory } = site.world
      const look = `for f in ${quote(outside)} ${quote(directory)}; do [ -e "$f" ] && echo SEEN; stat -c '%n %s %Y' "$f"; ls -d "$f"; done`
      expectEqual(await toItsEnd(`{ ${look}; } 2>/dev/null`, site.run), '', 'stat and ls')
      return declared(site, 'fileMetadata')
    },
  },
  {
    id: 'links-outside',
    group: 'isolation',
    links: true,
    title: 'a link to outside leads nowhere',
    async run(site) {
      for (const name of ['link-outside', 'link-sibling']) {
        const link = site.path(`/${checksDirectory}/${name}`)
        const codes = ['ENOENT', 'EOUTSIDE', 'ENOTDIR'] as const
        await expectRefusal(site, codes, `read of ${name}`, () => site.workspace.read(link))
        await unreachable(site, `cat ${quote(link)}; echo changed >> ${quote(link)}; cat ${quote(link)}`)
      }
      // the workspace has a path of that name, like any other, and a store without a hierarchy a file there now
      const { directory, stored } = site.world
      if (!stored.project.hierarchy) {
        await site.workspace.delete(directory, { recursive: true, force: true }).catch(() => undefined)
      }
    },
  },
  {
    id: 'links-made-inside',
    group: 'isolation',
    title: 'nor does one that a command makes',
    async run(site) {
      const { directory, outside } = site.world
      const [toDirectory, toFile] = [site.path(`/${checksDirectory}/made`), site.path(`/${checksDirectory}/made.txt`)]
      await unreachable(
        site,
        `ln -s ${quote(directory)} ${quote(toDirectory)}; ln -s ${quote(outside)} ${quote(toFile)}; ls ${quote(toDirectory)}/; cat ${quote(toFile)}`,
      )
      const codes = ['ENOENT', 'ENOTDIR'] as const
      await expectRefusal(site, codes, 'list', () => drain(site.workspace.list(`${toDirectory}/outside`)))
      await expectRefusal(site, codes, 'read', () => site.workspace.read(toFile))
      const target = `${toDirectory}/outside/secret.txt`
      await site.workspace.write(target, 'changed').catch(() => undefined)
      await unreachable(site, 'true')
    },
  },
  {
    id: 'environment',
    group: 'isolation',
    title: "this process's environment cannot be read",
    async run(site) {
      await unreachable(site, `env; echo "$${secretVariable}"; cat /proc/self/environ /proc/1/environ /proc/*/environ`)
    },
  },
  {
    id: 'processes',
    group: 'isolation',
    title: 'no process of the host can be seen',
    async run(site) {
      const seen = await toItsEnd('cat /proc/*/cmdline', site.run)
      if (site.guarantees.processes !== 'none') expectHidden(seen, site.world.secret, '/proc')
      return declared(site, 'processes')
    },
  },
  {
    id: 'network',
    group: 'isolation',
    title: 'no network can be reached',
    needs: python,
    async run(site) {
      const before = site.world.connections()
      const result = await site.run(
        `python3 -c "import socket; socket.create_connection(('127.0.0.1', ${site.world.port}), 2); print('CONNECTED')" || echo REFUSED`,
      )
      if (site.guarantees.network !== 'none') {
        expectEqual(result.stdout, 'REFUSED\n', 'a connection to a listener of the host')
        expectEqual(site.world.connections(), before, 'connections')
      }
      return declared(site, 'network')
    },
  },
  {
    id: 'sockets',
    group: 'isolation',
    title: "no socket of the host's can be reached",
    needs: python,
    async run(site) {
      const before = site.world.connections()
      const result = await site.run(
        `python3 -c "import socket; s = socket.socket(socket.AF_UNIX); s.connect('${site.world.socket}'); print('CONNECTED')" || echo REFUSED`,
      )
      if (site.guarantees.sockets !== 'none') {
        expectEqual(result.stdout, 'REFUSED\n', 'a connection to a socket of the host')
        expectEqual(site.world.connections(), before, 'connections')
      }
      return declared(site, 'sockets')
    },
  },
  {
    id: 'survivors-exit',
    group: 'isolation',
    title: 'nothing that a command starts survives its end',
    processes: true,
    async run(site) {
      const token = newToken()
      await toItsEnd(background(token), site.run)
      await noneLeft(token)
    },
  },
  {
    id: 'survivors-timeout',
    group: 'isolation',
    title: 'nor its timeout, whatever ignores signals',
    processes: true,
    async run(site) {
      const token = newToken()
      const options = { timeout: 500, killGrace: 200 }
      const result = await site.run(
        `trap '' TERM INT HUP; ${background(token)} sleep ${token}; sleep ${token}`,
        options,
      )
      expectTrue(result.timedOut, 'it was not ended by the timeout')
      await noneLeft(token)
    },
  },
  {
    id: 'survivors-kill',
    group: 'isolation',
    title: 'nor kill -9 of the executor itself',
    processes: true,
    async run(site) {
      const token = newToken()
      const ended = site.run(`${background(token)} sleep ${token}`).then(
        () => undefined,
        (error: unknown) => error,
      )
      const [pid = 0] = await awaitProcesses(token, 'some', 5000)
      const executor = await childAbove(pid)
      if (executor !== undefined) process.kill(executor, 'SIGKILL')
      else await Promise.race([ended, awaitProcesses(token, 'none', 5000)])
      if (site.guarantees.processes === 'none') {
        const left = await awaitProcesses(token, 'none', 2000)
        for (const survivor of left) end(survivor)
        if (left.length > 0) return declared(site, 'processes')
      }
      await noneLeft(token)
      expectTrue(executor !== undefined, 'the command was not found among the processes')
    },
  },
  {
    id: 'declared',
    group: 'isolation',
    title: 'what is not held is refused when it is required',
    async run(site) {
      const weak = guaranteeFields.filter((field) => !satisfies(site.guarantees[field], 'kernel'))
      for (const field of weak) await refusedWhenRequired(site, field)
    },
  },
  {
    id: 'droppings',
    group: 'isolation',
    title: 'nothing of the system is left in the workspace',
    async run(site) {
      const names = await site.world.stored.project.names()
      const system: readonly string[] = [...systemNames, scratchName, 'workspace']
      expectSame(
        names.filter((name) => system.includes(name)),
        [],
        'the disk',
      )
      const listed = (await Array.fromAsync(site.workspace.list(site.at))).map(({ name }) => name)
      expectSame(listed, names, 'list against the disk')
    },
  },
  {
    id: 'mount-points',
    group: 'isolation',
    title: 'mount points cannot be taken away',
    async run(site) {
      const [solven, skills] = [site.path('/.solven'), site.path(skillsPath)]
      const busy = (what: string, operation: () => Promise<unknown>) =>
        expectRefusal(site, ['EBUSY', 'EROFS'], what, operation)
      await busy('delete', () => site.workspace.delete(skills, { recursive: true }))
      await busy('delete of its parent', () => site.workspace.delete(solven, { recursive: true }))
      await busy('move', () => site.workspace.move(skills, site.path('/elsewhere')))
      await busy('move of its parent', () => site.workspace.move(solven, site.path('/elsewhere')))
      await site.run(`rmdir ${skills}; mv ${skills} ${skills}2; mv ${solven} ${solven}2`)
      // where a command can move the empty directory below the mount, the next one finds the mount there again
      expectEqual((await site.run(`cat ${skills}/SKILL.md`)).stdout, '# A skill\n', 'the skill in the next command')
      expectEqual(await site.workspace.readText(`${skills}/SKILL.md`), '# A skill\n', 'the skill through the API')
      for (const left of [`${skills}2`, `${solven}2`])
        await site.workspace.delete(left, { recursive: true, force: true })
    },
  },
]

/** Expects the output to hold nothing of the secret, and the files outside to be unchanged. */
async function unreachable(site: Site, command: string): Promise<void> {
  expectHidden(await toItsEnd(command, site.run), site.world.secret, 'the output')
  const { outside, siblings, secret } = site.world
  for (const file of [outside, ...siblings.map((sibling) => `${sibling}/secret.txt`)]) {
    expectEqual(await diskText(file), secret, 'a file outside')
  }
}

/** A host path is a path in the workspace like any other, and nothing is there. */
async function hiddenAtApi({ workspace }: Site, hostPath: string): Promise<void> {
  for (const operation of [() => workspace.read(hostPath), () => workspace.stat(hostPath)]) {
    const found = await operation().catch((error: unknown) => {
      if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return undefined
      throw error
    })
    expectTrue(found === undefined, 'a host path can be read')
  }
}

/** A boundary that is declared as absent must at least be refused to a caller that requires it. */
async function declared(site: Site, field: GuaranteeField): Promise<'refused' | undefined> {
  if (site.guarantees[field] !== 'none') return undefined
  await refusedWhenRequired(site, field)
  return 'refused'
}

/** For processes whose command line shows that they are of a check. */
function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

/** A number of seconds that is on no other command line. */
const newToken = (): string => `60.${crypto.getRandomValues(new Uint32Array(2)).join('')}`

/** Ways to stay behind: a job, a session of its own, a double fork. */
const background = (token: string): string =>
  `sleep ${token} & setsid sleep ${token} & (setsid sh -c 'trap "" TERM HUP; sleep ${token}' &); nohup sleep ${token} >/dev/null 2>&1 &`

async function noneLeft(token: string): Promise<void> {
  const left = await awaitProcesses(token, 'none', 2000)
  expectEqual(left.length, 0, 'processes left')
}
