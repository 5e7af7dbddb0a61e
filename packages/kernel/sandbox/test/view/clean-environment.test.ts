import { isWorkspaceError } from '@ws/core'
import { describe, expect, it } from 'vitest'
import { startProcess } from '../../src/run/start.ts'
import { cleanEnvironment } from '../../src/view/environment.ts'

const parent = {
  PATH: '/evil',
  HOME: '/root',
  AWS_SECRET_ACCESS_KEY: 's3cret',
  LD_PRELOAD: '/x.so',
  LANG: 'C.UTF-8',
  LC_ALL: 'C',
  TERM: 'xterm',
  TZ: 'UTC',
  LCX: 'no',
}

describe('cleanEnvironment', () => {
  it('[RP16] takes over what is allowed and nothing else', () => {
    expect({ ...cleanEnvironment({ home: '/', parent }) }).toEqual({
      LANG: 'C.UTF-8',
      LC_ALL: 'C',
      TERM: 'xterm',
      TZ: 'UTC',
      HOME: '/',
      PWD: '/',
      USER: 'user',
      LOGNAME: 'user',
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    })
  })

  it('[RP9] leads caches and histories away from HOME, and no variable of the caller', () => {
    const env = cleanEnvironment({ home: '/h', parent: {}, cache: '/tmp/.cache', env: { CARGO_HOME: '/mine' } })
    expect(env).toMatchObject({ HOME: '/h', XDG_CACHE_HOME: '/tmp/.cache', npm_config_cache: '/tmp/.cache/npm' })
    expect([env.CARGO_HOME, env.HISTFILE]).toEqual(['/mine', '/dev/null'])
    const places = Object.entries(env).filter(([name, value]) => value.startsWith('/h') && !/^(HOME|PWD)$/u.test(name))
    expect(places).toEqual([])
    expect(cleanEnvironment({ home: '/h', parent: {}, cache: '/' }).npm_config_cache).toBe('/npm')
  })

  it('[RP16] the caller’s variables win over all but PWD; undefined takes one away', () => {
    const env = cleanEnvironment({
      home: '/h',
      pwd: '/w',
      parent,
      env: { HOME: '/mine', PWD: '/lie', TZ: undefined, X: 'a=b\n' },
    })
    expect([env.HOME, env.PWD, env.TZ, env.X]).toEqual(['/mine', '/w', undefined, 'a=b\n'])
  })

  it('[RP16] an impossible name or value is EINVAL', () => {
    for (const env of [{ '': 'x' }, { 'a=b': 'x' }, { 'a\0': 'x' }, { a: 'x\0' }, { a: 5 as unknown as string }])
      expect(() => cleanEnvironment({ home: '/', env, parent: {} })).toThrow(
        expect.toSatisfy((e) => isWorkspaceError(e, 'EINVAL')),
      )
  })

  it('[RP16] no variable of this process is in /proc/PID/environ of a process that is started', async () => {
    process.env.WS_TEST_SECRET = 's3cret-in-the-parent'
    const coverage = process.env.NODE_V8_COVERAGE // Node hands this one on unless it is kept from it
    process.env.NODE_V8_COVERAGE = '/tmp/s3cret'
    try {
      const env = cleanEnvironment({ home: '/', env: { OWN: 'mine' } })
      const argv = ['/bin/sh', '-c', 'tr "\\0" "\\n" </proc/$$/environ']
      const { stdout } = await startProcess({ argv, env }).wait()
      expect(stdout.text).toContain('OWN=mine')
      expect(stdout.text).not.toContain('s3cret')
      expect(stdout.text.trim().split('\n').sort()).toEqual(
        Object.entries(env)
          .map(([k, v]) => `${k}=${v}`)
          .sort(),
      )
    } finally {
      delete process.env.WS_TEST_SECRET
      if (coverage === undefined) delete process.env.NODE_V8_COVERAGE
      else process.env.NODE_V8_COVERAGE = coverage
    }
  })
})
