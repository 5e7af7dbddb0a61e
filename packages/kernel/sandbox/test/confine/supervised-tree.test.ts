import { component, createMarker, describeWith, ordinaryOwner, until, withTimeToBegin } from '@ws/test-fixtures'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { probeLandlock } from '../../src/confine/landlock/probe.ts'
import { confineArgv } from '../../src/confine/loader/confine.ts'
import { startProcess } from '../../src/run/start.ts'
import type { StartProcessOptions } from '../../src/run/types.ts'
import { cleanEnvironment } from '../../src/view/environment.ts'

const owner = ordinaryOwner()

/** Five ways to outlive a parent: background, setsid, double fork, both, ignoring TERM; then a storm of 50. */
const stragglers = `
sleep 60 &
setsid sleep 60 &
(sleep 60 &)
(setsid sh -c 'sleep 60 & sleep 60' &)
setsid sh -c 'trap "" TERM INT HUP; while :; do sleep 60; done' >/dev/null 2>&1 &
`
const storm = `${stragglers}
i=0; while [ $i -lt 50 ]; do (setsid sh -c 'trap "" TERM; sleep 60; sleep 60' &) ; i=$((i+1)); done
`

function supervised(
  script: string,
  env: Record<string, string>,
  options: Partial<StartProcessOptions> = {},
  killGrace = 50,
) {
  const argv = ['/bin/sh', '-c', script]
  return startProcess({ ...confineArgv({ argv, env, owner, supervise: true, killGrace }), killGrace, ...options })
}

describeWith(component('perl'), 'a supervised tree', () => {
  it('tells exit status and signal exactly', async () => {
    const { env } = createMarker()
    for (const status of [0, 1, 126, 137, 255])
      expect(await supervised(`exit ${status}`, env).wait()).toMatchObject({
        exitCode: status,
        signal: null,
        survivors: false,
      })
    for (const signal of ['TERM', 'KILL', 'SEGV', 'INT', 'PIPE'])
      expect(await supervised(`kill -${signal} $$`, env).wait()).toMatchObject({
        exitCode: null,
        signal: `SIG${signal}`,
      })
  })

  it.each([
    ['stragglers', stragglers],
    ['a fork storm of 50', storm],
  ])('%s are gone after a normal end', async (_, script) => {
    const { env, survivors } = createMarker()
    const result = await supervised(`${script}\nexit 3`, env).wait()
    expect(result).toMatchObject({ exitCode: 3, survivors: false })
    expect(survivors()).toEqual([])
  })

  it.each([
    ['stragglers', stragglers],
    ['a fork storm of 50', storm],
  ])('%s are gone after a timeout', async (_, script) => {
    const { env, survivors } = createMarker()
    const stubborn = `trap "" TERM; ${script} while :; do sleep 60; done`
    // on a busy machine it needs a second to come to its trap
    const result = await supervised(stubborn, env, { timeout: 1_500 }).wait()
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: true, survivors: false })
    expect(survivors()).toEqual([])
  })

  it('all are gone after an abort, before it rejects', async () => {
    const { env, survivors } = createMarker()
    const controller = new AbortController()
    const onStdout = () => controller.abort(new Error('enough'))
    const running = supervised(`${storm} echo ready; sleep 60`, env, { signal: controller.signal, onStdout })
    await expect(running.wait()).rejects.toThrow('enough')
    expect(survivors()).toEqual([])
  })

  it('all are gone after SIGKILL', async () => {
    const { env, survivors } = createMarker()
    const running = supervised(`${storm} echo ready; sleep 60`, env, { onStdout: () => void running.kill('SIGKILL') })
    expect(await running.wait()).toMatchObject({ signal: 'SIGKILL', timedOut: false })
    expect(survivors()).toEqual([])
  })

  it('TERM comes first, so that a process can clean up', async () => {
    const { env } = createMarker()
    const script = 'trap "echo bye; exit 5" TERM; echo ready; while :; do sleep 0.01; done'
    const run = (timeout: number) => supervised(script, env, { timeout }, 3000).wait()
    const result = await withTimeToBegin(200, run, ({ stdout }) => stdout.text.includes('ready'))
    expect(result).toMatchObject({ exitCode: 5, timedOut: true, stdout: { text: 'ready\nbye\n' } })
  })

  it('other signals are forwarded to the command', async () => {
    const { env } = createMarker()
    const script = 'trap "echo usr1; exit 4" USR1; echo ready; while :; do sleep 0.01; done'
    let sent = false
    const running = supervised(script, env, {
      onStdout: () => {
        if (!sent) sent = running.kill('SIGUSR1')
      },
    })
    expect(await running.wait()).toMatchObject({ exitCode: 4, stdout: { text: 'ready\nusr1\n' } })
  })

  it('all are gone after kill -9 of the Node that started them', async () => {
    const { env, survivors } = createMarker()
    const source = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)
    const program = `
      const { confineArgv } = await import(${source})
      const { startProcess } = await import('@ws/sandbox')
      const argv = ['/bin/sh', '-c', ${JSON.stringify(`${storm} echo ready; sleep 60`)}]
      const confined = confineArgv({ argv, env: ${JSON.stringify(env)}, owner: ${JSON.stringify(owner)}, supervise: true })
      startProcess({ ...confined, onStdout: () => process.stdout.write('ready') })`
    const node = spawn(process.execPath, ['--conditions=@ws/source', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: import.meta.dirname,
      env: {},
    })
    await once(node.stdout, 'data')
    expect(survivors().length).toBeGreaterThan(50)
    node.kill('SIGKILL')
    await once(node, 'exit')
    await until(() => survivors().length === 0)
  })

  it('the command cannot end its supervisor, where uid or Landlock keep them apart', async () => {
    const apart = process.getuid?.() === 0 || (await probeLandlock()).scopes
    if (!apart) return
    const { env, survivors } = createMarker()
    const argv = ['/bin/sh', '-c', `${stragglers} kill -9 $PPID; kill -PWR $PPID; kill -STOP $PPID; exit 3`]
    const landlock = { rules: [{ source: '/', access: ['read', 'write', 'execute'] as const }] }
    const confined = confineArgv({
      argv,
      env,
      owner,
      supervise: true,
      ...(process.getuid?.() === 0 ? {} : { landlock }),
    })
    expect(await startProcess(confined).wait()).toMatchObject({ exitCode: 3, survivors: false })
    expect(survivors()).toEqual([])
  })

  it('the supervisor shows the command nothing: neither its orders nor its descriptors', async () => {
    const { env } = createMarker()
    const script =
      'ls /proc/$PPID/fd /proc/$PPID/fdinfo/0 2>&1 | grep -ci denied; cat /proc/$PPID/environ 2>/dev/null | wc -c'
    expect((await supervised(script, env).wait()).stdout.text).toBe('2\n0\n')
  })

  it('[RP16] no variable of this process is in the environment of the supervisor or of the command', async () => {
    process.env.WS_TEST_SECRET = 's3cret-in-the-parent'
    const coverage = process.env.NODE_V8_COVERAGE // Node hands this one on unless it is kept from it
    process.env.NODE_V8_COVERAGE = '/tmp/s3cret'
    try {
      const env = cleanEnvironment({ home: '/', env: { OWN: 'mine' } })
      const argv = ['/bin/sh', '-c', 'for p in $$ $PPID; do tr "\\0" "\\n" </proc/$p/environ; done']
      // The command can read what belongs to its supervisor only where both have the same uid.
      const { stdout } = await startProcess(confineArgv({ argv, env, supervise: true })).wait()
      expect(stdout.text).toContain('OWN=mine')
      expect(stdout.text).not.toContain('s3cret')
    } finally {
      delete process.env.WS_TEST_SECRET
      if (coverage === undefined) delete process.env.NODE_V8_COVERAGE
      else process.env.NODE_V8_COVERAGE = coverage
    }
  })

  it('reads input through to the command', async () => {
    const { env } = createMarker()
    const argv = ['/bin/sh', '-c', 'cat']
    const confined = confineArgv({ argv, env, owner, supervise: true })
    expect((await startProcess({ ...confined, stdin: 'through' }).wait()).stdout.text).toBe('through')
  })

  it('holds no descriptor here after the run', async () => {
    const { env } = createMarker()
    const open = () => readdirSync('/proc/self/fd').length
    await supervised('true', env).wait()
    const before = open()
    for (let round = 0; round < 10; round++) await supervised('true', env).wait()
    await until(() => open() <= before)
  })
})
