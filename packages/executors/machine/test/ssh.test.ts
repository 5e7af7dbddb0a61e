/** @module-tag all */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Machine } from '@ws/executor-machine'
import { createSshMachine } from '@ws/executor-machine/ssh'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { openSshServer } from './ssh-server.ts'
import { openSite } from './support.ts'

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(stream)).toString()
}

describeWith([component('sshd')], 'a host of SSH', () => {
  it('starts programs with any arguments, variables and bytes, and takes files', async () => {
    const { directory, ...options } = await openSshServer()
    const machine = createSshMachine(options)
    const odd = ["a 'b'", '$HOME', '`id`', '*', '\\', 'ä\n', '', '-n', '!!']
    const process = await machine.start(['printf', '<%s>', ...odd])
    expect(await textOf(process.stdout)).toBe(odd.map((word) => `<${word}>`).join(''))
    expect(await process.wait()).toBe(0)
    const env = await machine.start(['sh', '-c', 'echo "$WS_A"; pwd; exit 7'], {
      env: { WS_A: "x 'y'\n$z" },
      cwd: '/usr',
    })
    expect(await textOf(env.stdout)).toBe("x 'y'\n$z\n/usr\n")
    expect(await env.wait()).toBe(7)
    const path = join(directory, 'put')
    await machine.put(
      (async function* () {
        yield Buffer.from([0, 255, 10])
      })(),
      { path },
    )
    expect(await readFile(path)).toEqual(Buffer.from([0, 255, 10]))
  })

  it.each([true, false])(
    'runs commands on the files of the workspace; with one waiting process: %s',
    async (hasInput) => {
      const { directory: _directory, ...options } = await openSshServer()
      const wrap = (): Machine => ({ ...createSshMachine(options), hasInput })
      const { workspace, root } = await openSite({ files: { '/a': 'one\n', '/größe\n-x': 'two\n' }, wrap })
      const first = await workspace.exec('cat a g*; printf "\\377\\0" > bytes; ln -s a l; echo err >&2; exit 3')
      expect(first).toMatchObject({ stdout: 'one\ntwo\n', stderr: 'err\n', exitCode: 3 })
      expect(Buffer.from((await workspace.read(`${root}/bytes`)).bytes)).toEqual(Buffer.from([255, 0]))
      await workspace.write(`${root}/b`, 'b')
      const told = await workspace.exec('cat b; cat', { stdin: 'input', env: { SECRET: 'hidden' } })
      expect(told).toMatchObject({ stdout: 'binput', exitCode: 0 })
      const late = await workspace.exec('echo x > x; trap "echo bye; exit" TERM; sleep 60 & wait', { timeout: 1_000 })
      expect(late).toMatchObject({ timedOut: true, stdout: 'bye\n' })
      expect(await workspace.readText(`${root}/x`)).toBe('x\n')
    },
  )

  it('tells of a host that refuses without its name, a path or a key', async () => {
    const { directory, identityFile: _key, ...options } = await openSshServer()
    const machine = createSshMachine({ ...options, identityFile: join(directory, 'host') })
    const opened = openSite({ wrap: () => machine })
    await expect(opened).rejects.toThrow(/the machine does not answer, or runs no shell/u)
    const error: unknown = await opened.catch((one: unknown) => one)
    expect(String(error)).not.toMatch(/ws-ssh-|127\.0\.0\.1|id_/u)
  })
})
