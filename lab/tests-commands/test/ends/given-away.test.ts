import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { openSite } from '../doors/site.ts'
import { everywhere, type ExecutorForm } from '../forms/executors.ts'

const script = join(import.meta.dirname, 'given.py')
const plain = { login: false, shell: 'bash' } as const
const cold: ExecutorForm = {
  name: 'bubblewrap at /workspace, each command cold',
  root: '/workspace',
  components: ['bubblewrap'],
  create: () => createBubblewrapExecutor({ warm: false }),
}
const processes = [cold, ...everywhere.filter(({ name }) => !name.startsWith('virtual'))]
const quick = new Set([cold.name, 'bubblewrap at /', 'sanitize at /workspace'])

/** A workspace in which one command waits for the output of another, and writes to it for as long as it can. */
async function openTaken(form: ExecutorForm) {
  const site = await openSite({ root: form.root, executor: form.create() })
  await copyFile(script, join(site.directory, 'given.py'))
  const taker = await site.workspace.spawn('python3 given.py take socket', plain)
  const reader = taker.stdout[Symbol.asyncIterator]()
  expect(Buffer.from((await reader.next()).value as Uint8Array).toString()).toBe('ready\n')
  return { site, taker, [Symbol.asyncDispose]: () => site[Symbol.asyncDispose]() }
}

for (const form of processes) {
  const tags = quick.has(form.name) ? [] : (['deep'] as const)
  const components = [...form.components, 'python3'] as const
  describeWith(components.map(component), `output that was given away: ${form.name}`, { tags: [...tags] }, () => {
    it('[HO4] a command ends when its processes have, and nothing counts that others write after that', async () => {
      await using taken = await openTaken(form)
      let heard = 0
      const onOutput = () => void heard++
      const running = await taken.site.workspace.spawn('python3 given.py give socket', { ...plain, onOutput })
      const { stdout, exitCode, timedOut } = await running.wait()
      const before = heard
      expect({ exitCode, timedOut }).toEqual({ exitCode: 0, timedOut: false })
      expect(stdout).toMatch(/^early\n[^]*given\n/)
      // Its descriptors lead nowhere any more.
      expect(await taken.taker.wait()).toMatchObject({ exitCode: 0, stdout: 'ready\nclosed\n' })
      expect(heard).toBe(before)
    })

    it('[HO4] one that is killed ends as well', async () => {
      await using taken = await openTaken(form)
      const running = await taken.site.workspace.spawn('python3 given.py give socket; sleep 1000', plain)
      for await (const chunk of running.stdout) if (Buffer.from(chunk).includes('given')) break
      running.kill('SIGKILL')
      await running.wait()
      expect(await taken.taker.wait()).toMatchObject({ exitCode: 0, stdout: 'ready\nclosed\n' })
    })

    it.skipIf(form.name.startsWith('sanitize'))('[HO4] a session ends with its own processes', async () => {
      await using taken = await openTaken(form)
      const command = 'python3 given.py give socket'
      await using session = await taken.site.workspace.openSession({ ...plain, command })
      expect((await session.wait()).exitCode).toBe(0)
      expect(await taken.taker.wait()).toMatchObject({ exitCode: 0, stdout: 'ready\nclosed\n' })
    })
  })
}
