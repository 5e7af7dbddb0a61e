import { expect, it } from 'vitest'

import { openSite } from './support.ts'

it('keeps both versions of a file that both sides changed', async () => {
  const { workspace, root } = await openSite({ files: { '/a': 'a' } })
  const running = await workspace.spawn('cat; echo mine > a', { writableStdin: true })
  await workspace.write(`${root}/a`, 'theirs')
  running.endInput()
  expect(await running.wait()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('.conflict-') })
  expect((await workspace.exec('cat a*')).stdout).toBe('theirsmine\n')
})

it('is not confused by a command that lists processes and its own program', async () => {
  const { workspace } = await openSite({ hasInput: false })
  const { stdout, exitCode } = await workspace.exec('cat /proc/*/cmdline /proc/*/environ 2>/dev/null; echo end')
  expect({ exitCode, end: stdout.slice(-4) }).toEqual({ exitCode: 0, end: 'end\n' })
})

it('asks again for lists that are damaged by output of another process', async () => {
  const { workspace, machine, root } = await openSite({ hasInput: false, files: { '/a': 'a' } })
  await workspace.exec('true')
  machine.faults.start = async (_argv, run) => {
    machine.faults.start = undefined
    const process = await run()
    return { ...process, stdout: damaged(process.stdout) }
  }
  expect(await workspace.exec('echo new > a')).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await workspace.readText(`${root}/a`)).toBe('new\n')
  expect((await workspace.stat(`${root}/a`)).mode).toBe(0o644)
  expect(machine.calls.slice(-2)).toEqual(['put', 'start'])
})

/** Changes bytes behind the line that announces lists. */
async function* damaged(output: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  let text = ''
  for await (const chunk of output) text += Buffer.from(chunk).toString('latin1')
  yield Buffer.from(text.replace(/(: end .*\n.*)f 644/su, '$1f 777'), 'latin1')
  return undefined
}

it('keeps both edits of a file that another command changes between its arrival and the list', async () => {
  const { workspace, machine, root } = await openSite({ hasInput: false, files: { '/a': 'one' } })
  expect(await workspace.exec('cat a')).toMatchObject({ stdout: 'one', exitCode: 0 })
  await workspace.write(`${root}/a`, 'two')
  machine.faults.start = async (argv, run) => {
    machine.faults.start = undefined
    return await run(argv.map((word) => word.replace(/^unpack\(\) \{(.*)\}$/mu, 'unpack() {$1printf own >a; }')))
  }
  const { stderr } = await workspace.exec('true')
  const later = await workspace.exec('true')
  expect(stderr + later.stderr).toContain('a.conflict')
  expect(await workspace.readText(`${root}/a`)).toBe('two')
  const names = await Array.fromAsync(workspace.list(root), ({ path }) => path)
  const beside = names.find((path) => path.includes('conflict'))
  expect(await workspace.readText(beside ?? '')).toBe('own')
})

it('keeps a file that another command makes at the moment when a command takes its files in', async () => {
  const { workspace, machine, root } = await openSite({ hasInput: false, files: { '/a': 'a' } })
  machine.faults.start = async (argv, run) => {
    machine.faults.start = undefined
    return await run(argv.map((word) => word.replace('unpack() {', 'unpack() { echo made >made;')))
  }
  expect(await workspace.exec('cat a')).toMatchObject({ stdout: 'a', exitCode: 0 })
  await workspace.write(`${root}/b`, 'b')
  expect(await workspace.exec('cat made b')).toMatchObject({ stdout: 'made\nb', stderr: '' })
  expect(await workspace.readText(`${root}/made`)).toBe('made\n')
})
