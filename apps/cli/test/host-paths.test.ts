import { spawn } from 'node:child_process'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { createProject, end, site, ws, wsForShell } from './ws.ts'

const text = (config: object) => JSON.stringify(config)
const here = { at: '/', root: '.' }

it('[HO7] refuses a trusted config file whose paths a command has exchanged for links', async () => {
  await using outside = await createProject({ id_ed25519: 'KEY', 'tools/x': '' })
  const tools = [{ host: 'tools', at: '/opt/tools' }]
  const bucket = { bucket: 'bucket', endpoint: 'http://127.0.0.1:1' }
  const cases: [object, string][] = [
    [{ mounts: [here], executorOptions: { bubblewrap: { tools } } }, 'the tool /opt/tools'],
    [{ mounts: [here], executorOptions: { proot: { tools } } }, 'the tool /opt/tools'],
    [{ mounts: [here, { at: '/more', root: 'tools' }] }, 'mounts[1]'],
    [{ mounts: [here, { at: '/more', root: 'tools', access: 'read-only' }] }, 'mounts[1]'],
    [{ mounts: [here, { at: '/more', root: 'tools/deep' }] }, 'mounts[1]'],
    [{ mounts: [here, { at: '/more', s3: { ...bucket, replica: 'tools' } }] }, 'mounts[1]'],
    [{ mounts: [here, { at: '/more', rclone: { ...bucket, directory: 'tools' } }] }, 'mounts[1].rclone.directory'],
  ]
  for (const [config, subject] of cases) {
    await using project = await site({ 'ws.config.json': text(config), 'tools/deep/own': '' })
    await project.ws(['trust'])
    await rename(join(project.path, 'tools'), join(project.path, 't'))
    await symlink(outside.path, join(project.path, 'tools'))
    const { code, stdout, stderr } = await project.ws(['cat', '/more/id_ed25519'])
    expect({ code, stdout }, subject).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(
      `ws: --config: ${subject} leads into the directory of \`/\`, where commands could exchange it`,
    )
    expect(stderr).not.toContain(outside.path)
  }
  // no command can change a link outside, nor one in a mount that is read-only
  await using project = await createProject({
    'p/a': 'a',
    'ws.config.json': text({
      mounts: [
        { at: '/', root: 'p' },
        { at: '/more', root: 'current' },
      ],
    }),
    'p/ws.config.json': text({
      mounts: [
        { ...here, access: 'read-only' },
        { at: '/more', root: 'link' },
      ],
    }),
  })
  for (const link of ['current', 'p/link']) {
    await symlink(join(outside.path, 'tools'), join(project.path, link))
    const file = join(project.path, link === 'current' ? '' : 'p', 'ws.config.json')
    expect(await ws(['--config', file, 'ls', '/more'])).toMatchObject({ code: 0, stdout: 'x\n' })
  }
})

it('[HO7] refuses a named config file that a command can write, until the user trusts it', async () => {
  await using outside = await createScratchDirectory()
  await writeFile(join(outside.path, 'key'), 'KEY')
  const planted = text({ mounts: [{ at: '/', root: outside.path, access: 'read-only' }] })
  await using project = await site({ 'ws.config.json': text({ mounts: [here] }), 'sub/a': 'a' })
  await using links = await createScratchDirectory()
  const file = join(project.path, 'ws.config.json')
  await symlink(file, join(links.path, 'file.json'))
  await symlink(project.path, join(links.path, 'way'))
  const names = ['ws.config.json', file, join(links.path, 'file.json'), join(links.path, 'way/ws.config.json')]
  for (const name of names) {
    const { code, stdout, stderr } = await project.ws(['--config', name, 'cat', '/sub/a'])
    expect({ code, stdout }, name).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      /^ws: --config: `[^\n]+` is not trusted yet; look at it, then run `ws trust` on it[^\n]*\n$/u,
    )
  }
  expect((await project.ws(['trust', join(links.path, 'way/ws.config.json')])).code).toBe(0)
  for (const name of [names[0] ?? '', file, names[3] ?? '']) {
    expect(await project.ws(['--config', name, 'cat', '/sub/a'])).toMatchObject({ code: 0, stdout: 'a' })
  }
  await writeFile(file, planted)
  for (const name of names) {
    const { code, stdout, stderr } = await project.ws(['--config', name, 'cat', '/key'])
    expect({ code, stdout }, name).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^ws: --config: `[^\n]+` has changed since you trusted it; look at it[^\n]+\n$/u)
  }
  await rm(file)
  await mkdir(file)
  expect((await project.ws(['--config', file, 'ls'])).stderr).toMatch(/is not a file; give the path of a config file/u)
})

it('takes a named config file from a pipe of the shell', { tags: 'all' }, async () => {
  await using project = await createProject({ 'p/a': '' })
  const config = text({ mounts: [{ at: '/', root: join(project.path, 'p') }] })
  const line = `printf '%s' '${config}' | ${wsForShell} --config /dev/stdin ls`
  expect(await end(spawn('/bin/sh', ['-c', line]))).toMatchObject({ code: 0, stdout: 'a\n' })
})

it('[HO7] refuses a workspace that holds the list of trusted files', async () => {
  await using project = await site({ 'ws.config.json': text({ mounts: [here] }), 'state/a': '' })
  const env = { XDG_STATE_HOME: join(project.path, 'state'), HOME: project.path }
  const call = (...args: string[]) => ws(args, { env, cwd: project.path })
  expect((await call('trust')).code).toBe(0)
  expect(await call('ls')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the list of trusted files leads into the directory of `/`') as string,
  })
})

it('[HO7] refuses a plan and a config file that lie in the output of `ws run`', async () => {
  const config = text({ mounts: [{ at: '/', root: 'in' }] })
  await using project = await site({ 'in/a': '', 'out/plan.yaml': 'version: 1\nsteps: []\n', 'out/c.json': config })
  await symlink('out/plan.yaml', join(project.path, 'plan.yaml'))
  const at = ['--workspace', 'in', '--output', 'out', '--dry-run']
  for (const plan of ['out/plan.yaml', 'plan.yaml']) {
    expect((await project.ws(['run', plan, ...at])).stderr).toContain('the plan lies in --output, where its steps can')
  }
  await writeFile(join(project.path, 'p.yaml'), 'version: 1\nsteps: []\n')
  const named = await project.ws(['--config', 'out/c.json', 'run', 'p.yaml', ...at])
  expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining('is not trusted yet') as string })
})

it('[RU1] --root takes the rules of the config file that is trusted there, or refuses', async () => {
  const rules = [{ rule: 'protectSecrets' }]
  await using project = await site({ 'ws.config.json': text({ mounts: [here], rules }), '.env': 'S=1', 'sub/a': 'a' })
  const file = join(project.path, 'ws.config.json')
  const read = (...more: string[]) => project.ws(['--root', project.path, ...more, 'cat', '.env'])
  // a file that the user does not trust may be a command's: it neither counts nor stops the user, and is named
  const passedOver = await read()
  expect(passedOver).toMatchObject({ code: 0, stdout: 'S=1' })
  expect(passedOver.stderr).toMatch(
    /^ws: `\/.*ws\.config\.json` is not trusted, and none of its rules hold; [^\n]+\n$/u,
  )
  const json = await read('--json')
  expect(JSON.parse(json.stderr)).toMatchObject({ warning: expect.stringContaining('is not trusted') as string })
  expect((await project.ws(['--root', 'sub', 'cat', 'a'])).stderr).toBe('')
  await project.ws(['trust'])
  for (const more of [[], ['--at', '/workspace'], ['--executor', 'virtual']]) {
    expect(await read(...more)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('EACCES') as string,
    })
  }
  await symlink('.', join(project.path, 'way'))
  expect((await project.ws(['--root', 'way', 'cat', '.env'])).code).toBe(1)
  await writeFile(file, text({ mounts: [here] }))
  expect((await read()).stderr).toMatch(/has changed since you trusted it/u)
  await writeFile(file, text({ mounts: [{ at: '/', root: 'sub' }], rules }))
  await project.ws(['trust'])
  // the rules are those of `sub`, by whatever way it is named
  await writeFile(join(project.path, 'sub/.env'), 'S=2')
  for (const root of ['sub', join(project.path, 'sub')])
    expect(await project.ws(['--root', root, 'cat', '.env'])).toMatchObject({ code: 1, stdout: '' })
  expect((await read()).stderr).toMatch(/which you trust, has rules for another root/u)
  expect(await read('--config', file)).toMatchObject({ code: 1, stdout: '' })
  await rm(file)
  expect((await read()).stderr).toMatch(/is gone, and you trusted it/u)
  expect((await project.ws(['trust', '--forget', file])).code).toBe(0)
  expect((await read()).code).toBe(0)
})
