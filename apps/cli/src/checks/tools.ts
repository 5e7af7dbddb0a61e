import { isWorkspaceError } from '@ws/core'

import { diskOwner } from './host/disk.ts'
import { checksDirectory } from './host/fixtures.ts'
import { expectEqual, expectTrue, quote } from './expect.ts'
import type { Check } from './types.ts'

/** Real programs at work in the workspace. */
export const toolChecks: readonly Check[] = [
  {
    id: 'node',
    group: 'tools',
    title: 'node runs a module that the API wrote, and writes back',
    needs: { program: 'node', package: 'nodejs' },
    async run(site) {
      const directory = site.path(`/${checksDirectory}/node`)
      await site.workspace.write(`${directory}/package.json`, '{ "type": "module" }')
      await site.workspace.write(`${directory}/value.js`, 'export const value = 42\n')
      await site.workspace.write(
        `${directory}/main.js`,
        "import { statSync, writeFileSync } from 'node:fs'\nimport { value } from './value.js'\n" +
          "writeFileSync(new URL('result.json', import.meta.url), JSON.stringify({ value, file: process.argv[1], " +
          'size: statSync(process.argv[1]).size }))\n',
      )
      const result = await site.run(`node ${quote(`${directory}/main.js`)}`)
      expectEqual(result.exitCode, 0, result.stderr)
      const { size } = await site.workspace.stat(`${directory}/main.js`)
      const written = JSON.parse(await site.workspace.readText(`${directory}/result.json`)) as { file?: string }
      // Without a view a program knows where it really is.
      const file = site.guarantees.fileMetadata === 'none' ? written.file : `${directory}/main.js`
      expectEqual(written, { value: 42, file, size }, 'what node wrote')
    },
  },
  {
    id: 'git',
    group: 'tools',
    title: 'git commits what the API wrote; the API reads that',
    needs: { program: 'git', package: 'git' },
    async run(site) {
      await site.workspace.write(site.path('/committed.txt'), `by ${site.executor}\n`)
      const identity = '-c user.name=check -c user.email=check@example.invalid'
      const result = await site.run(
        `{ [ -d .git ] || git init -q; } && git add committed.txt && git ${identity} commit -qm 'From a command' && git status --porcelain committed.txt && git rev-parse HEAD`,
      )
      expectEqual(result.exitCode, 0, result.stderr)
      const head = (await site.workspace.readText(site.path('/.git/HEAD'))).replace(/^ref: /u, '').trim()
      const commit = (await site.workspace.readText(site.path(`/.git/${head}`))).trim()
      expectEqual(result.stdout.trim(), commit, 'git rev-parse against the API')
    },
  },
  {
    id: 'pipes',
    group: 'tools',
    title: 'pipes, redirects, exit codes and standard input work',
    async run(site) {
      const result = await site.run('tr a-z A-Z | { cat; echo oops >&2; exit 7; }', { stdin: 'input' })
      expectEqual([result.stdout, result.stderr, result.exitCode], ['INPUT', 'oops\n', 7], 'the result')
    },
  },
  {
    id: 'large',
    group: 'tools',
    title: 'a command of 300 KB and 1 MiB of input get through',
    async run(site) {
      const padding = `: ${'x'.repeat(300_000)}`
      const running = site.run(`${padding}\nwc -c`, { stdin: new Uint8Array(1 << 20) })
      const result = await running.catch((error: unknown) => {
        // It says how long a command can be.
        if (site.executor === 'sanitize' && isWorkspaceError(error, 'EINVAL')) return undefined
        throw error
      })
      if (result === undefined) return 'refused'
      expectEqual(result.stdout.trim(), String(1 << 20), result.stderr || 'wc -c')
    },
  },
  {
    id: 'owner',
    group: 'tools',
    title: 'commands run as the owner, who owns what both write',
    processes: true,
    async run(site) {
      const { uid } = site.world.owner
      await site.workspace.write(site.path(`/${checksDirectory}/owned-api`), '')
      const result = await site.run(
        `cd ${quote(site.path(`/${checksDirectory}`))} && : > owned-shell && id -u && cat owned-api && echo x >> owned-api`,
      )
      expectTrue(result.exitCode === 0 && result.stdout.trim() !== '0', `id -u: ${result.stdout}${result.stderr}`)
      for (const name of ['owned-api', 'owned-shell']) {
        expectEqual(
          await diskOwner(`${site.world.stored.project.directory}/${checksDirectory}/${name}`),
          uid,
          `the owner of ${name}`,
        )
      }
    },
  },
]
