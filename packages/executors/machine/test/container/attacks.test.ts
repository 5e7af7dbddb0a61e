/** @module-tag all */
import { spawnSync } from 'node:child_process'
import { mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { rules } from '@ws/core'
import { getCommandResult } from '@ws/core/executor'
import { component, describeWith, give, itWith, openEngine } from '@ws/test-fixtures'
import { afterAll, expect, it } from 'vitest'

import { openSite, plain } from './support.ts'

describeWith([component('dockerd')], 'a hostile command in a container', async () => {
  const engine = await openEngine()
  afterAll(() => engine[Symbol.asyncDispose]())

  it('has no right, no network, no second door and a root that it cannot change', async () => {
    await using site = await openSite(engine)
    const { stdout } = await site.workspace.exec(
      `grep -E '^(CapEff|CapPrm|CapBnd|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'; id -u
       for place in / /etc/passwd /usr/bin/x /root /proc/sys/kernel/hostname /sys/x; do (echo x > $place) 2>/dev/null && echo "wrote $place"; done
       ls /sys/class/net; find / -xdev -perm /6000 -exec {} \\; 2>/dev/null | head -1; find / -name '*.sock' 2>/dev/null
       mount -t tmpfs x /tmp 2>/dev/null && echo mounted; unshare -r true 2>/dev/null && echo unshared; mknod /tmp/null c 1 3 2>/dev/null && echo made`,
      plain,
    )
    const none = '0000000000000000'
    const rights = `CapPrm:${none}\nCapEff:${none}\nCapBnd:${none}\nCapAmb:${none}\nNoNewPrivs:1\nSeccomp:2\n`
    expect(stdout).toBe(`${rights}${site.scratch.owner.uid}\nlo\n`)
  })

  it('neither opens the streams of the attendant nor ends it', async () => {
    await using site = await openSite(engine)
    const other = await site.workspace.spawn('echo begun; read line; echo "$line"', { ...plain, stdin: later() })
    const { stdout } = await site.workspace.exec(
      `for part in fd/0 fd/1 mem environ; do (exec 5<>/proc/1/$part) 2>/dev/null && echo "open $part"; done
       kill -9 1; kill -STOP 1; kill -TERM 1; (trap '' TERM; sleep 0.1); echo done`,
      plain,
    )
    expect(stdout).toBe('done\n')
    go.resolve()
    expect(await other.wait()).toMatchObject({ exitCode: 0, stdout: 'begun\ngo\n' })
  })

  const go = Promise.withResolvers<void>()
  async function* later(): AsyncGenerator<Uint8Array> {
    await go.promise
    yield Buffer.from('go\n')
  }

  it('that kills everything it can reach ends what runs in its container, and nothing else', async () => {
    await using site = await openSite(engine)
    await expect(site.workspace.exec('kill -9 -1; sleep 100', plain)).rejects.toMatchObject({ code: 'EIO' })
    expect(await site.workspace.exec('echo on', plain)).toMatchObject({ stdout: 'on\n' })
  })

  it('keeps no process, and no file outside the workspace, for the next command', async () => {
    await using site = await openSite(engine)
    const { workspace } = site
    await workspace.exec('(setsid sh -c \'trap "" TERM HUP; sleep 300; sleep 301\' &) >/dev/null 2>&1', plain)
    const { stdout } = await workspace.exec('cat /proc/[0-9]*/comm | sort -u', plain)
    expect(stdout.split('\n').filter((name) => /sleep/.test(name))).toEqual([])
  })

  it('sees a masked part that a host program replaces only until its end, which tells of it', async () => {
    await using site = await openSite(engine, { options: { rules: [rules.deny('.env')] } })
    const { workspace, scratch } = site
    const put = (name: string, text: string) => {
      writeFileSync(join(scratch.path, name), text)
      give(join(scratch.path, name))
    }
    put('.env', 'TOKEN=old\n')
    const running = await workspace.spawn('cat .env; echo begun; exec sleep 1000', plain)
    for await (const chunk of running.stdout) if (Buffer.from(chunk).includes('begun')) break
    put('new', 'TOKEN=new\n')
    renameSync(join(scratch.path, 'new'), join(scratch.path, '.env'))
    const failed: unknown = await running.wait().catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'EIO', path: '/workspace/.env', rule: 'deny(.env)' })
    const exposed = { rule: 'deny(.env)', path: '/workspace/.env', kind: 'exposed' }
    expect(getCommandResult(failed)).toMatchObject({ stdout: '', violations: [exposed] })
    // the next command has a mask over the new file
    const next = await workspace.exec('cat .env', { ...plain, acknowledge: [] })
    expect([next.exitCode, next.stdout]).toEqual([1, ''])
  })

  it('of two workspaces on one directory keeps to the rules of its own', async () => {
    await using one = await openSite(engine, { options: { rules: [rules.deny('secrets')] } })
    await using other = await openSite(engine, { at: one.scratch })
    await other.workspace.exec('mkdir secrets; echo key > secrets/key; echo text > file', plain)
    const read = 'cat secrets/key file 2>/dev/null; ls /proc | grep -c "^[0-9]*$"'
    expect((await one.workspace.exec(read, plain)).stdout).toMatch(/^text\n/)
    expect((await other.workspace.exec(read, plain)).stdout).toMatch(/^key\ntext\n/)
    const [here, there] = await Promise.all([
      one.workspace.exec('echo one > /tmp/own; sleep 0.2; ls /tmp', plain),
      other.workspace.exec('echo other > /tmp/own; sleep 0.2; cat /tmp/own', plain),
    ])
    expect([here.stdout, there.stdout]).toEqual(['own\n', 'other\n'])
  })

  itWith(component('tmpfs'), 'does not write into a file system that is mounted below a read-only part', async () => {
    await using site = await openSite(engine, { options: { rules: [rules.readOnly('keep')] } })
    const below = join(site.scratch.path, 'keep/below')
    mkdirSync(below, { recursive: true })
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=0777', 'probe', below])
    try {
      const end = await site.workspace.exec('echo x > keep/below/x', plain).catch((error: unknown) => error)
      // an engine that seals it is right as well
      const isSealed = (end as { readonly exitCode?: number }).exitCode !== undefined
      if (isSealed) expect(end).toMatchObject({ exitCode: expect.not.stringMatching('^0$') })
      else expect(end).toMatchObject({ code: 'EUNENFORCEABLE', rule: 'readOnly(keep)' })
      console.log(
        isSealed ? 'this engine seals mounts below a read-only one' : 'this engine leaves them writable: refused',
      )
    } finally {
      spawnSync('umount', ['-l', below])
      rmdirSync(below)
    }
  })
})
