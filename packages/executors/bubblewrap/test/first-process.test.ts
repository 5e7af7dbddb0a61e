import { execFileSync } from 'node:child_process'

import { expect, it } from 'vitest'

const script = `
  import { openSync } from 'node:fs'
  const { isAlive, signalIn } = await import(process.argv[1])
  try { for (;;) openSync('/dev/null', 'r') } catch {}
  const child = { pid: process.pid, startTime: '1' }
  console.log(isAlive(child), signalIn(child, child.pid, 'SIGKILL'), isAlive({ ...child, startTime: undefined }))`

it('[HO4] without a descriptor a process counts as alive and gets no signal: a look from a timer ends nothing', () => {
  const limited = ['-c', 'ulimit -n 60 && exec "$@"', 'sh', process.execPath, '--conditions=@ws/source']
  const module = new URL('../src/processes/first-process.ts', import.meta.url).href
  const said = execFileSync('/bin/sh', [...limited, '--input-type=module', '-e', script, module], { encoding: 'utf8' })
  expect(said).toBe('true false false\n')
})
