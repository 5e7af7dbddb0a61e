import { spawnSync } from 'node:child_process'

import { expect, it } from 'vitest'

const source = new URL('../../src/index.ts', import.meta.url).href

/** Runs a program where Node says that this is macOS: without `/proc`, by `ps` and names. */
function onMac(program: string): string {
  const fake = "data:text/javascript,Object.defineProperty(process,'platform',{value:'darwin'})"
  const text = `import { startProcess, Processes } from ${JSON.stringify(source)}\n${program}`
  const argv = ['--no-warnings', '--import', fake, '--conditions=@ws/source', '--input-type=module', '-e', text]
  const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', timeout: 30_000 })
  return stdout + stderr
}

it('finds a process by `ps`, with its parent, its group and the time of its start', () => {
  const seen = onMac(`
    const own = Processes.readProcessStat(process.pid)
    const listed = Processes.listProcesses().find(({ pid }) => pid === process.pid)
    console.log(own.parent === process.ppid, own.zombie, /^\\d{13}$/.test(own.startTime), listed.startTime === own.startTime)
    console.log(Processes.readProcessStat(2 ** 22 + 1))`)
  expect(seen).toBe('true false true true\nundefined\n')
})

it('gives a process bytes by a descriptor, and ends its whole tree after a timeout', () => {
  const seen = onMac(`
    const extraFds = new Map([[3, Buffer.from('some bytes')]])
    const argv = ['/bin/sh', '-c', 'cat <&3; sleep 60 & echo " $!"; sleep 60']
    const { stdout, timedOut, survivors } = await startProcess({ argv, extraFds, timeout: 1000, killGrace: 100 }).wait()
    const [text, child] = stdout.text.trim().split(/ (?=\\d)/)
    console.log(text, timedOut, survivors, Processes.readProcessStat(Number(child))?.zombie ?? true)`)
  expect(seen).toBe('some bytes true false true\n')
})
