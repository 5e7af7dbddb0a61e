import { cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { optionalNames } from '../src/optional/packages.ts'
import { callInstalled, callInstalledHere, installCli, plant, type Call } from './installed.ts'

let scratch: ScratchDirectory
let root: string
/** The machine's directory of global packages, with `ws` and no optional package. */
let global: string

beforeAll(async () => {
  scratch = await createScratchDirectory()
  root = await realpath(scratch.path)
  global = join(root, 'usr/lib/node_modules')
  await installCli(global)
  await writeFile(join(root, 'plan.yaml'), 'version: 1\nsteps: []\n')
})

afterAll(() => scratch.remove())

/** Another place that `ws` is installed into. */
async function install(place: string): Promise<string> {
  const nodeModules = join(root, place, 'node_modules')
  await cp(global, nodeModules, { recursive: true, verbatimSymlinks: true })
  return nodeModules
}

const plan = ['run', 'plan.yaml', '--workspace', '.', '--output', 'out']
const commands: readonly (readonly [string, string, readonly string[]])[] = [
  ['@ws/mcp-server', 'ws mcp', ['--root', '.', 'mcp']],
  ['@ws/runner', 'ws run', plan],
  ['@ws/conformance', 'ws verify', ['verify']],
  ['@ws/snapshots', 'ws changes', ['--root', '.', 'changes']],
  ['@ws/threads', 'ws thread list', ['--root', '.', 'thread', 'list']],
  ['@ws/adapter-s3', 'ws ls --s3', ['--s3', 'bucket', 'ls']],
  ['@ws/adapter-rclone', 'ws cat --rclone', ['--rclone', 'bucket', 'cat', '/a']],
  ['@ws/executor-virtual', 'ws exec --executor virtual', ['--root', '.', '--executor', 'virtual', 'exec', '--', 'ls']],
]

describe('without optional packages', () => {
  const call = async (...all: readonly (readonly string[])[]) =>
    await callInstalledHere(
      global,
      all.map((args) => ({ args, cwd: root })),
    )

  it('files of a directory are there at once', async () => {
    await mkdir(join(root, 'files'))
    const at = ['--root', join(root, 'files')]
    expect(await call([...at, 'write', 'a.txt', 'a'], [...at, 'ls'])).toEqual([
      { code: 0, stdout: '', stderr: '' },
      { code: 0, stdout: 'a.txt\n', stderr: '' },
    ])
  })

  it('a command names the one that it needs, and how to install it', async () => {
    const ended = await call(...commands.flatMap(([, , args]) => [args, ['--json', ...args]]))
    for (const [index, [name, called]] of commands.entries()) {
      const { stderr, ...others } = ended[index * 2] ?? {}
      expect(others).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/^ws: [^\n]+\n$/u)
      expect(stderr).toContain(`\`${called}\` needs \`${name}\``)
      expect(stderr).toContain(`which is not installed beside \`ws\`; run \`npm run pack -- DIR ${name}\``)
      expect(stderr).not.toContain(root)
      const { error } = JSON.parse(ended[index * 2 + 1]?.stderr ?? '') as { readonly error: object }
      expect(error).toMatchObject({ code: 'EUSAGE', packages: [name] })
    }
  })

  it('a command that needs several names all of them', async () => {
    const file = join(root, 'bucket.config.json')
    await writeFile(file, JSON.stringify({ mounts: [{ at: '/', r2: { bucket: 'bucket', accountId: 'a' } }] }))
    const [flag, config] = await call(['--s3', 'bucket', 'exec', '--', 'ls'], ['--config', file, 'thread', 'list'])
    expect(flag?.stderr).toContain('`ws exec --s3` needs `@ws/adapter-s3` (files in S3 and R2) and `@ws/executor-virt')
    expect(flag?.stderr).toContain('`npm run pack -- DIR @ws/adapter-s3 @ws/executor-virtual`')
    expect(config?.stderr).toContain('`ws thread list` needs `@ws/threads` and `@ws/adapter-s3` (files in S3 and R2), ')
  })

  it('ws doctor lists those that are there, and says what exec would say', async () => {
    const bucket = ['--s3', 'bucket', 'doctor']
    const [json, verbose] = await call([...bucket, '--json'], [...bucket, '-v'])
    const listed = JSON.parse(json?.stdout ?? '') as { readonly packages: object }
    expect(listed.packages).toEqual(Object.fromEntries(optionalNames.map((name) => [name, false])))
    expect(verbose).toMatchObject({ code: 1, stderr: '' })
    expect(verbose?.stdout).toMatch(/^@ws\/mcp-server +not installed +`ws mcp`$/mu)
    expect(verbose?.stdout).toContain('Commands would be refused.')
    expect(verbose?.stdout).toContain('`npm run pack -- DIR @ws/adapter-s3 @ws/executor-virtual`')
  })
})

describe('a package that an agent has planted is not loaded', () => {
  const names = commands.map(([name]) => name)
  const refusals = names.map((name) => expect.stringContaining(`needs \`${name}\``) as string)
  const refused = async (nodeModules: string, cwd: string, env?: NodeJS.ProcessEnv) => {
    const calls = commands.map(([, , args]): Call => ({ args, cwd }))
    const ended = await (env === undefined
      ? callInstalledHere(nodeModules, calls)
      : callInstalled(nodeModules, calls, env))
    expect(ended.map(({ stderr }) => stderr)).toEqual(refusals)
  }

  for (const NODE_PATH of ['', 'node_modules', '../node_modules', '/'])
    it(`from the working directory, the workspace, a parent of either or the home directory, with NODE_PATH=${NODE_PATH}`, {
      // a process each
      tags: NODE_PATH === '/' ? [] : ['all'],
    }, async () => {
      const HOME = join(root, 'home')
      const project = join(HOME, 'projects/project')
      const cwd = join(project, 'src')
      await mkdir(cwd, { recursive: true })
      await cp(join(root, 'plan.yaml'), join(cwd, 'plan.yaml'))
      for (const place of [cwd, project, dirname(project), HOME]) await plant(join(place, 'node_modules'), ...names)
      // `require` looks there too
      for (const place of ['.node_modules', '.node_libraries']) await plant(join(HOME, place), ...names)
      await refused(global, cwd, { HOME, NODE_PATH: NODE_PATH === '/' ? join(project, 'node_modules') : NODE_PATH })
    })

  for (const env of [undefined, 'NODE_PATH'])
    it(`in place of a folder beside \`ws\` that holds something else: ${env ?? 'above it'}`, {
      tags: env === undefined ? [] : ['all'],
    }, async () => {
      const place = env ?? 'other'
      const nodeModules = await install(`${place}/lib`)
      const [first = '', second = '', third = '', ...rest] = names
      for (const name of names) await mkdir(join(nodeModules, name), { recursive: true })
      await writeFile(join(nodeModules, first, 'package.json'), JSON.stringify({ name: '@ws/else', exports: './a.js' }))
      await writeFile(join(nodeModules, second, 'package.json'), JSON.stringify({ name: second }))
      await writeFile(join(nodeModules, third, 'package.json'), 'not JSON')
      expect(rest).not.toEqual([])
      await plant(join(root, place, 'node_modules'), ...names)
      await plant(join(root, 'led'), ...names)
      await refused(nodeModules, root, env === undefined ? undefined : { NODE_PATH: join(root, 'led') })
    })

  it('from above `ws`, where `ws` lies in the workspace: only the directory that holds `ws` counts', async () => {
    const project = join(root, 'local')
    const nodeModules = await install('local/tools')
    await cp(join(root, 'plan.yaml'), join(project, 'plan.yaml'))
    await plant(join(project, 'node_modules'), ...names)
    await plant(join(root, 'node_modules'), ...names)
    await refused(nodeModules, project)
    // those who can write there can exchange `ws` itself
    await plant(nodeModules, '@ws/mcp-server')
    const [ended] = await callInstalledHere(nodeModules, [{ args: ['--root', project, 'mcp'], cwd: project }])
    expect(ended?.stderr).toContain(`loaded from ${nodeModules}\n`)
  })
})

describe('an optional package is found', () => {
  const calls = () => [plan, ['verify']].map((args): Call => ({ args, cwd: root }))

  it('beside `ws`, and in its own node_modules', async () => {
    const nodeModules = await install('beside')
    const within = join(nodeModules, '@ws/cli/node_modules')
    await plant(nodeModules, '@ws/runner')
    await plant(within, '@ws/conformance')
    const [runner, conformance] = await callInstalledHere(nodeModules, calls())
    expect(runner?.stderr).toContain(`loaded from ${nodeModules}\n`)
    expect(conformance?.stderr).toContain(`loaded from ${within}\n`)
  })

  it('where the links of `ws` lead, as pnpm makes them', async () => {
    const lies = await install('lies')
    const linked = join(root, 'linked/node_modules')
    await plant(lies, '@ws/runner')
    await plant(linked, '@ws/conformance')
    await symlink(join(lies, '@ws/cli'), join(linked, '@ws/cli'))
    const [runner, conformance] = await callInstalledHere(linked, calls())
    expect(runner?.stderr).toContain(`loaded from ${lies}\n`)
    expect(conformance?.stderr).toContain('needs `@ws/conformance`')
  })
})
