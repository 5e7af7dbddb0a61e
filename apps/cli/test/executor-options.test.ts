import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { ws } from './ws.ts'

async function configured(executorOptions: object) {
  const scratch = await createScratchDirectory({ prefix: 'ws-config-' })
  const make = async (path: string) => {
    await mkdir(join(scratch.path, path), { recursive: true })
    if (process.getuid?.() === 0) await chown(join(scratch.path, path), scratch.owner.uid, scratch.owner.gid)
  }
  await make('project')
  await make('tool/bin')
  await writeFile(join(scratch.path, 'tool/bin/own-tool'), '#!/bin/sh\necho found\n')
  await chmod(join(scratch.path, 'tool/bin/own-tool'), 0o755)
  const config = join(scratch.path, 'ws.config.json')
  await writeFile(config, JSON.stringify({ mounts: [{ at: '/workspace', root: 'project' }], executorOptions }))
  return { ...scratch, run: (...args: string[]) => ws(['--config', config, ...args]), make }
}

describeWith(component('bubblewrap'), 'executorOptions', () => {
  it('give commands tools, limits and a network', async () => {
    const tools = [{ host: 'tool', at: '/opt/tool' }]
    await using site = await configured({ bubblewrap: { tools, limits: { openFiles: 77 }, network: 'host' } })
    const { stdout, stderr } = await site.run('exec', 'own-tool; ulimit -n; grep -c : /proc/net/dev')
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^found\n77\n\d+\n$/)
  })

  it('that mean nothing are usage errors that name the place', async () => {
    for (const [options, place] of [
      [{ bubblewrap: { network: 'some' } }, 'executorOptions.bubblewrap.network'],
      [{ bubblewrap: { limits: { openFiles: 0 } } }, 'executorOptions.bubblewrap.limits.openFiles'],
      [{ bubblewrap: { limits: { memory: 5 } } }, 'memory'],
      [{ bubblewrap: { tools: [{ host: 'no-such-tool', at: '/opt/x' }] } }, 'executorOptions.bubblewrap'],
      [{ proot: { network: 'host' } }, 'network'],
      [{ other: {} }, 'other'],
    ] as const) {
      await using site = await configured(options)
      const { code, stderr } = await site.run('exec', 'true')
      expect(code, stderr).toBe(2)
      expect(stderr).toContain(place)
      // The file was typed; what it names was not.
      expect(stderr).not.toContain('no-such-tool')
    }
  })
})

describeWith(component('bubblewrap'), 'doctor', { tags: 'all' }, () => {
  it('[PC13] says why an executor is passed over, and whom it passes on to', async () => {
    const tools = [{ host: 'tool', at: '/opt/tool' }]
    await using site = await configured({ bubblewrap: { tools } })
    await chmod(join(site.path, 'tool'), 0o000)
    const { stdout } = await site.run('--json', 'doctor')
    const { rules } = JSON.parse(stdout) as { rules: { executor?: string; passedOver?: object[]; problem?: string } }
    expect(JSON.stringify(rules)).toContain('`/opt/tool` cannot be')
    expect(rules.executor).not.toBe('bubblewrap')
    const alone = await site.run('--executor', 'bubblewrap', 'doctor')
    expect(alone.stdout).toContain('cannot run the commands of this workspace')
    expect(alone.stdout).toContain('`/opt/tool` cannot be')
    expect(alone.stdout).not.toContain('Commands would run')
    expect(alone.code).toBe(1)
    await chmod(join(site.path, 'tool'), 0o755)
  })
})

it('doctor shows by what limits are held, and suggests tools with the line for the config file', {
  tags: 'all',
}, async () => {
  await using site = await configured({})
  for (const version of ['9.0.0', '20.1.0']) await site.make(`home/.nvm/versions/node/${version}/bin`)
  await site.make('home/.cargo/bin')
  const env = { HOME: join(site.path, 'home') }
  const shown = await ws(['--executor', 'bubblewrap', 'doctor', '-v'], { env })
  expect(shown.stdout).toMatch(/processes +(?:rlimit, tree|none)/)
  expect(shown.stdout).toContain(
    `"tools":[{"host":"${env.HOME}/.cargo"},{"host":"${env.HOME}/.nvm/versions/node/v20.1.0"`.replace('v20', '20'),
  )
  const { tools } = JSON.parse((await ws(['--json', 'doctor'], { env })).stdout) as { tools: { manager: string }[] }
  expect(tools.map(({ manager }) => manager)).toEqual(['cargo', 'nvm'])
  await chmod(join(site.path, 'home/.cargo'), 0o000)
  const barred = await ws(['--executor', 'bubblewrap', 'doctor', '-v'], { env })
  await chmod(join(site.path, 'home/.cargo'), 0o755)
  // root sees that it is there, and that the owner of a workspace would not get in
  if (process.getuid?.() === 0) expect(barred.stdout).toMatch(/cargo .*\.cargo  closed to uid \d+/)
  else expect(barred.stdout).not.toContain('.cargo')
  expect(barred.stdout).toContain(`"tools":[{"host":"${env.HOME}/.nvm/versions/node/20.1.0"}]`)
})
