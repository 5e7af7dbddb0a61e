// Measures the cost of a start, in milliseconds per command, all in one run:
// `node --conditions=@ws/source bench/start.ts [rounds]`.
import { spawn } from 'node:child_process'
import { startProcess } from '@ws/process'
import { confineArgv, sandboxProgram } from '../src/index.ts'
import type { ConfineOptions } from '../src/loader/confine.ts'

const rounds = Number(process.argv[2] ?? 300)
const argv = ['/bin/true']
const landlock = { rules: [{ source: '/', access: ['read', 'execute'] as const }] }
const seccomp = sandboxProgram()

const bare = (program: string, ...parameters: string[]) =>
  new Promise((resolve) => {
    spawn(program, parameters, { env: {}, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }).on('close', resolve)
  })
const confined = (options: Partial<ConfineOptions>) => startProcess(confineArgv({ argv, ...options })).wait()

const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  'child_process.spawn': () => bare('/bin/true'),
  startProcess: () => startProcess({ argv }).wait(),
  'bare perl': () => bare('/usr/bin/perl', '-e', 'exec "/bin/true"'),
  'loader only': () => confined({}),
  'loader, Landlock, seccomp': () => confined({ landlock, seccomp }),
  'supervised, Landlock, seccomp': () => confined({ landlock, seccomp, supervise: true }),
}

const times = new Map(Object.keys(ways).map((name) => [name, [] as number[]]))
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(ways)) {
    const start = performance.now()
    await run()
    times.get(name)?.push(performance.now() - start)
  }
}
for (const [name, all] of times) {
  all.sort((a, b) => a - b)
  const at = (share: number) => (all[Math.floor(all.length * share)] ?? 0).toFixed(2)
  process.stdout.write(`${name.padEnd(32)} median ${at(0.5)}  p95 ${at(0.95)}\n`)
}
