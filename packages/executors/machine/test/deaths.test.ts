/** @module-tag all */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import type { MachineProcess } from '@ws/executor-machine'

import type { LocalMachine } from './local-machine.ts'
import { linesOf, modelOfDirectory, modelOfWorkspace } from './model.ts'
import { openSite } from './support.ts'

const plain = { hasInput: false }

/** The same process, whose output breaks after so many bytes. */
function breaking(process: MachineProcess, bytes: number): MachineProcess {
  async function* cut() {
    let left = bytes
    for await (const chunk of process.stdout) {
      yield chunk.subarray(0, left)
      left -= chunk.length
      if (left > 0) continue
      await process.kill()
      throw new Error('the connection was reset')
    }
  }
  return { ...process, stdout: cut(), wait: () => Promise.reject(new Error('the connection was reset')) }
}

/** The next start of a command breaks; then everything works, or nothing. */
function breakOnce(machine: LocalMachine, bytes: number, after: 'alive' | 'dead' = 'alive'): void {
  machine.faults.start = async (_argv, run) => {
    machine.faults.start = after === 'alive' ? undefined : () => Promise.reject(new Error('no route to the machine'))
    return breaking(await run(), bytes)
  }
}

describe('a machine that dies', () => {
  it.each([0, 512, 5_000, 30_000])(
    'after %d bytes of an archive: the command did not run, and the next has all',
    async (bytes) => {
      const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`/f${index}`, 'x'.repeat(1_000)]))
      const { workspace, machine, root } = await openSite({ ...plain, files })
      machine.faults.put = async function* (content) {
        machine.faults.put = undefined
        let left = bytes
        for await (const chunk of content) {
          if (chunk.length >= left) throw new Error('the connection was reset')
          left -= chunk.length
          yield chunk
        }
      }
      await expect(workspace.exec('echo ran > ran')).rejects.toThrow(
        /did not take the workspace’s files; the command did not start/u,
      )
      expect((await modelOfDirectory(root)).size).toBe(0)
      expect(await workspace.exec('cat f* | wc -c; ls ran')).toMatchObject({ stdout: '30000\n' })
    },
  )

  it('while a command runs: says what holds, and the next command brings its changes', async () => {
    const { workspace, machine, root } = await openSite({ ...plain, files: { '/a': 'old' } })
    await workspace.exec('true')
    breakOnce(machine, 200, 'dead')
    const lost = workspace.exec('echo one > a; echo two > b; head -c 1000 /dev/zero; sleep 1; echo three > c')
    await expect(lost).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringMatching(/was lost before the command ended; it may still run.*next command fetches/u),
    })
    expect(await workspace.readText(`${root}/a`)).toBe('old')
    await expect(workspace.exec('true')).rejects.toMatchObject({ code: expect.stringMatching(/EIO|ENOEXEC/u) })
    machine.faults.start = undefined
    await workspace.write(`${root}/d`, 'mine')
    const read = async () => (await workspace.exec('cat a b c d')).stdout
    await expect.poll(read, { timeout: 20_000 }).toBe('one\ntwo\nthree\nmine')
    expect(linesOf(await modelOfWorkspace(workspace, root))).toEqual(linesOf(await modelOfDirectory(root)))
  })

  it.each(['alive', 'dead'] as const)(
    'in the middle of what it gives, and is %s then: whole files, and the rest later',
    async (after) => {
      const { workspace, machine, root } = await openSite({ ...plain, files: { '/f1': 'old' } })
      await workspace.exec('true')
      breakOnce(machine, 60_000, after)
      const running = workspace.exec(
        'for i in $(seq 40); do head -c 5000 /dev/zero | tr "\\0" "$((i % 10))" > f$i; done',
      )
      if (after === 'alive') expect(await running).toMatchObject({ exitCode: 0, stderr: '' })
      else await expect(running).rejects.toMatchObject({ code: 'EIO', remedy: expect.stringMatching(/./u) })
      let whole = 0
      for await (const { path } of workspace.list(root)) {
        const text = await workspace.readText(path)
        if (text === 'old') continue
        expect(text).toMatch(/^(\d)\1{4999}$/u)
        whole += 1
      }
      if (after === 'alive') expect(whole).toBe(40)
      else expect(whole).toBeLessThan(40)
      machine.faults.start = undefined
      expect(await workspace.exec('true')).toMatchObject({ exitCode: 0, stderr: '' })
      expect(linesOf(await modelOfWorkspace(workspace, root))).toEqual(linesOf(await modelOfDirectory(root)))
      expect((await modelOfWorkspace(workspace, root)).size).toBe(40)
    },
  )

  it('while it takes an archive in: no part of a file comes back, and the next command has all', async () => {
    const { workspace, machine, root } = await openSite({ ...plain, files: { '/a': 'whole a', '/b': 'whole b' } })
    machine.faults.start = () => {
      machine.faults.start = undefined
      writeFileSync(join(root, 'a'), 'who')
      return Promise.reject(new Error('the connection was reset'))
    }
    await expect(workspace.exec('echo ran > ran')).rejects.toMatchObject({ code: 'ENOEXEC' })
    expect(await workspace.exec('cat a b')).toMatchObject({ stdout: 'whole awhole b', stderr: '', exitCode: 0 })
    const names = [...(await modelOfWorkspace(workspace, root)).keys()]
    expect(names).toEqual(['/a', '/b'])
    expect(linesOf(await modelOfWorkspace(workspace, root))).toEqual(linesOf(await modelOfDirectory(root)))
  })

  it.each(['.', 'd'])('not: a command has made %s read-only, and files of the workspace arrive', async (directory) => {
    const { workspace, root } = await openSite({ ...plain, files: { '/d/a': 'a' } })
    await workspace.exec(`chmod 555 ${directory}`)
    await workspace.write(`${root}/${directory}/b`, 'b')
    expect(await workspace.exec(`cat d/a ${directory}/b`)).toMatchObject({ stdout: 'ab', stderr: '' })
  })

  it.each(['.', 'd'])('not: a command has made %s read-only, and files of the workspace go', async (directory) => {
    const { workspace, root } = await openSite({ ...plain, files: { '/a': 'a', '/d/a': 'a', '/d/b': 'b' } })
    await workspace.exec(`chmod 555 ${directory}`)
    await workspace.delete(`${root}/${directory}/a`)
    expect(await workspace.exec(`ls ${directory}; stat -c %a ${directory}`)).toMatchObject({
      stdout: directory === '.' ? 'd\n555\n' : 'b\n555\n',
      stderr: '',
    })
  })

  it('of storage: says so, does not start the command, and works again with room', async () => {
    const { workspace, machine, root } = await openSite({ ...plain, files: { '/a': 'a' } })
    machine.faults.start = async (argv, run) => {
      machine.faults.start = undefined
      const full = argv.map((word) =>
        word.replace('unpack() {', 'unpack() { echo "tar: write error: No space left" >"$work/err"; return 2;'),
      )
      return await run(full)
    }
    const failed = workspace.exec('echo ran > ran')
    await expect(failed).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringMatching(/archive.*No space left/u),
    })
    expect((await modelOfDirectory(root)).size).toBe(0)
    expect(await workspace.exec('cat a')).toMatchObject({ stdout: 'a', stderr: '' })
  })

  it('with its attendant: the next command starts another one', async () => {
    const { workspace, machine, root } = await openSite({ files: { '/a': 'old' } })
    const broken = workspace.exec(
      'echo new > a; parent() { ps -o ppid= "$1"; }; kill -KILL $(parent $(parent $PPID)); sleep 60',
    )
    await expect(broken).rejects.toMatchObject({ code: 'EIO' })
    expect(await workspace.exec('cat a')).toMatchObject({ stdout: 'new\n', exitCode: 0, stderr: '' })
    expect(machine.calls).toEqual(['start', 'start', 'start'])
    expect(await workspace.readText(`${root}/a`)).toBe('new\n')
  })

  it('before it says that a command began: the command may have run, and nothing is lost', async () => {
    const { workspace, machine, root } = await openSite({ ...plain, files: { '/a': 'a' } })
    await workspace.exec('true')
    await workspace.write(`${root}/b`, 'b')
    breakOnce(machine, 10)
    await expect(workspace.exec('echo c > c; echo more >> b')).rejects.toMatchObject({ code: 'EIO' })
    expect(await workspace.exec('cat a; cat c')).toMatchObject({ stdout: expect.stringMatching(/^a/u) })
    const texts = [...(await modelOfWorkspace(workspace, root)).values()].map((node) =>
      node.type === 'file' ? node.content : '',
    )
    expect(texts).toEqual(expect.arrayContaining(['a', 'b']))
    expect(linesOf(await modelOfWorkspace(workspace, root))).toEqual(linesOf(await modelOfDirectory(root)))
  })

  it('of another directory in the workspace’s place: nothing is taken away', async () => {
    const { workspace, root } = await openSite({ ...plain, files: { '/a': 'a', '/b': 'b' } })
    await workspace.exec('true')
    const foreign = await workspace.exec('mv "$PWD" "$PWD.old"; mkdir "$PWD"; echo x > "$PWD/theirs"')
    expect(foreign.exitCode).toBe(1)
    await expect(workspace.exec('true')).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    expect(await workspace.readText(`${root}/a`)).toBe('a')
  })
})
