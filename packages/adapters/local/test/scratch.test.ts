import { createScratchAdapter } from '@ws/adapter-local'
import { paths } from '@ws/core'
import { ordinaryOwner } from '@ws/test-fixtures'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'

const holder = `
import { createScratchAdapter } from '@ws/adapter-local'
const adapter = await createScratchAdapter({ owner: JSON.parse(process.argv[1]) })
await adapter.write('/left/behind', new TextEncoder().encode('x'), { parents: true })
console.log(adapter.hostPath('/'))
setInterval(() => {}, 1000)
`

it('a scratch directory whose process was killed is removed when the next one is made', async () => {
  const owner = ordinaryOwner()
  const child = spawn(
    process.execPath,
    ['--conditions=@ws/source', '--input-type=module', '-e', holder, JSON.stringify(owner)],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: import.meta.dirname },
  )
  let path = ''
  for await (const chunk of child.stdout) {
    path = String(chunk).trim()
    break
  }
  const alive = await createScratchAdapter({ owner })
  expect(existsSync(path)).toBe(true)
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  const next = await createScratchAdapter({ owner })
  expect(existsSync(path)).toBe(false)
  expect(existsSync(alive.hostPath?.(paths.parseMount('/')) ?? '')).toBe(true)
  await Promise.all([alive.close(), next.close()])
})
