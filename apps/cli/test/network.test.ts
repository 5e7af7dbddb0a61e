import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createProject, ws } from './ws.ts'

// Six sandboxes, whose commands reach no host: the list is what is looked at.
describeWith([component('bubblewrap'), component('perl')], 'hosts on the command line', () => {
  it('[NW1, NW6] `--allow-host` gives the list, and a refused host is told with its remedy', async () => {
    await using project = await createProject({})
    const options = ['--root', project.path, '--allow-host', 'api.test', '--allow-host', '*.wild.test:8443']
    const explained = await ws([...options, '--json', 'explain', 'connect', 'x.wild.test:8443'])
    expect(JSON.parse(explained.stdout)).toMatchObject({
      effect: 'allow',
      entry: '*.wild.test:8443',
      enforcedBy: { exec: 'names' },
    })
    const { stdout, stderr, code } = await ws([...options, 'exec', '--', 'curl -s http://evil.test/ || echo $?'])
    expect({ stdout, code }).toEqual({ stdout: '6\n', code: 0 })
    expect(stderr).toMatch(/^ws: the host evil\.test is not in the list .*; .*`evil\.test` in `network\.allow`\n$/u)
    const shown = await ws([...options, 'explain', 'connect', 'evil.test:22'])
    expect(shown.stdout).toMatch(/connect +evil\.test:22\n/u)
    expect(shown.stdout).toMatch(/deny EACCES/u)
  })

  it('[NW4] a config file gives the list and a rule that narrows it; the option replaces the list alone', async () => {
    await using project = await createProject({ 'p/a': '' })
    const config = join(project.path, 'ws.config.json')
    const network = { allow: ['api.test', 'db.test:5432'], connections: 4 }
    await writeFile(
      config,
      JSON.stringify({
        mounts: [{ at: '/', root: 'p' }],
        rules: [{ rule: 'allowHosts', hosts: ['api.test', 'new.test'], name: 'few' }],
        executorOptions: { bubblewrap: { network } },
      }),
    )
    const judge = async (host: string, ...more: string[]) => {
      const { stdout, stderr } = await ws(['--config', config, ...more, '--json', 'explain', 'connect', host])
      const { effect, rule, executor } = JSON.parse(stdout || stderr) as Record<string, string>
      return [effect, rule, executor]
    }
    expect(await judge('api.test')).toEqual(['allow', undefined, 'bubblewrap'])
    expect(await judge('db.test:5432')).toEqual(['deny', 'few', 'bubblewrap'])
    expect(await judge('new.test', '--allow-host', 'new.test')).toEqual(['allow', undefined, 'bubblewrap'])
    expect(await judge('api.test', '--allow-host', 'new.test')).toEqual(['deny', 'network', 'bubblewrap'])
  })
})

// two sandboxes, and the keys of an authority for each
describeWith([component('bubblewrap'), component('perl')], 'rules for requests in a config file', () => {
  const project = async (requests: unknown) => {
    const made = await createProject({ 'p/a': '' })
    const bubblewrap = { network: { allow: ['api.test'], requests } }
    const config = { mounts: [{ at: '/', root: 'p' }], executorOptions: { bubblewrap } }
    await writeFile(join(made.path, 'ws.config.json'), JSON.stringify(config))
    return Object.assign(made, { config: join(made.path, 'ws.config.json') })
  }

  it('[NW7, NW5] answer a request, and refuse others; a variable is read outside of the sandbox', async () => {
    const headers = { authorization: 'Bearer ${API_TOKEN}' }
    await using made = await project({
      'api.test': [
        { match: { path: '/a' }, respond: { status: 200, body: 'yes\n' } },
        { match: { path: '/b' }, transform: { headers } },
      ],
    })
    const command = 'curl -s https://api.test/a; curl -s https://api.test/c; env'
    const { stdout, code } = await ws(['--config', made.config, 'exec', '--', command], {
      env: { API_TOKEN: 'hunter2' },
    })
    expect(stdout).toMatch(/^yes\nws: `api\.test` was not asked: no rule for it allows `GET \/c`/u)
    expect(stdout).not.toContain('hunter2')
    expect(code).toBe(0)
    const missing = await ws(['--config', made.config, 'exec', '--', command])
    expect(missing).toMatchObject({ code: 2, stdout: '' })
    expect(missing.stderr).toMatch(/^ws: --config: [^\n]*variable API_TOKEN, which is not set; [^\n]*\n$/u)
  })

  it('[NW7] for a host that is not listed are refused in one line', async () => {
    await using made = await project({ 'b.test': [] })
    const { stderr, code } = await ws(['--config', made.config, 'exec', '--', 'true'])
    expect(stderr).toMatch(/^ws: [^\n]*`network\.requests\["b\.test"\]` is for a host that is not in `allow`[^\n]*\n$/u)
    expect(code).toBe(2)
  })
})

describe('bad hosts on the command line', () => {
  const line = ['--root', 'DIR', 'exec', '--', 'true']
  it.each([
    [['--allow-host', 'https://a.test'], /--allow-host: .*`allow\[0\]` must be a name .*, not a URL/u],
    [['--allow-host', '10.0.0.1'], /`allow\[0\]` must be a name, not an address/u],
    [['--allow-host', 'a.test', '--allow-host', 'A.test:443'], /`allow\[1\]` must not repeat the entry `a\.test`/u],
    [['--allow-host', 'a.test:70000'], /must have a port from 1 to 65535/u],
    [['--allow-host', 'a.*.test'], /wildcard only as its whole first label/u],
    [
      ['--allow-host', 'a.test', '--executor', 'proot'],
      /proot cannot hold a list of hosts; give --executor bubblewrap/u,
    ],
    [['--allow-host', 'a.test', '--executor', 'virtual'], /virtual cannot hold a list of hosts/u],
  ])('[NW1] are one line: %j', async (given, message) => {
    await using project = await createProject({})
    const { code, stderr } = await ws([...given, ...line.map((word) => (word === 'DIR' ? project.path : word))])
    expect(stderr).toMatch(/^ws: [^\n]+\n$/u)
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })

  it('[NW1] a config file in the workspace that is not trusted sets no list', async () => {
    await using project = await createProject({})
    const executorOptions = { bubblewrap: { network: { allow: ['evil.test'] } } }
    const config = { mounts: [{ at: '/', root: '.' }], executorOptions }
    await writeFile(join(project.path, 'ws.config.json'), JSON.stringify(config))
    const { code, stderr } = await ws(['explain', 'connect', 'evil.test'], { cwd: project.path })
    expect(stderr).toMatch(/^ws: .*ws trust[^\n]*\n$/u)
    expect(code).toBe(2)
  })
})
