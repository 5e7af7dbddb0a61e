import { lstatSync, readFileSync } from 'node:fs'
import { paths } from '@ws/core'
import { describe, expect, it } from 'vitest'

import { viewEnvironment } from '../../src/view/environment.ts'
import { isSystemProgram, systemTree } from '../../src/view/system-tree.ts'

const root = paths.parseVirtual('/workspace')
const owner = { uid: 1234, gid: 2345 }

describe('the system part of a view', () => {
  it('shows /usr, links beside it where they are merged, and nothing secret of /etc', () => {
    const entries = systemTree({ root, owner })
    const places = entries.map(({ at }) => at)
    expect(entries).toContainEqual({ kind: 'directory', at: '/usr', source: '/usr' })
    const bin = entries.find(({ at }) => at === '/bin')
    expect(bin?.kind).toBe(lstatSync('/bin').isSymbolicLink() ? 'link' : 'directory')
    expect(places.filter((at) => /shadow|ssh|private|sudo|environment|gitconfig|npmrc|resolv/.test(at))).toEqual([])
    expect(new Set(places).size).toBe(places.length)
  })

  it('names the owner `user`, at home in the root', () => {
    const passwd = systemTree({ root, owner, shell: '/bin/bash' }).find(({ at }) => at === '/etc/passwd')
    expect(passwd?.kind === 'data' && Buffer.from(passwd.content).toString()).toMatch(
      /^user:x:1234:2345:user:\/workspace:\/bin\/bash\n/,
    )
  })

  it('has name servers with a network only', () => {
    const resolver = systemTree({ root, owner, network: true }).find(({ at }) => at === '/etc/resolv.conf')
    expect(resolver?.kind === 'data' && resolver.content).toEqual(readFileSync('/etc/resolv.conf'))
  })

  it('tells programs that are inside from those that are not', () => {
    expect(isSystemProgram('/bin/sh')).toBe(true)
    expect(isSystemProgram('/usr/bin/../bin/sh')).toBe(false)
    expect(isSystemProgram('/usr')).toBe(false)
    expect(isSystemProgram(process.execPath.startsWith('/usr/') ? '/opt/none' : process.execPath)).toBe(false)
  })

  it("[RP9] has HOME at the root, USER=user, and the workspace's tools first on PATH", () => {
    const env = viewEnvironment({ root, cwd: paths.parseVirtual('/workspace/src'), env: { A: 'b' } })
    expect(env).toMatchObject({ HOME: '/workspace', PWD: '/workspace/src', USER: 'user', LOGNAME: 'user', A: 'b' })
    expect(env['PATH']).toBe('/workspace/.venv/bin:/workspace/node_modules/.bin:/usr/local/bin:/usr/bin:/bin')
    expect(viewEnvironment({ root: paths.parseVirtual('/') })).toMatchObject({ HOME: '/', PWD: '/' })
  })
})
