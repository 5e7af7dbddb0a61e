/** @module-tag all */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

const run = promisify(execFile)

/** Imports a door of the runner in a process that finds all packages but one, and gives how the import ended. */
async function importWithout(missing: string, door: string): Promise<unknown> {
  const hook = `import { registerHooks } from 'node:module'
registerHooks({
  resolve: (name, context, next) =>
    next(name, name === '${missing}' ? { ...context, parentURL: 'file:///nowhere/a.js' } : context),
})`
  const script = `import('${door}').then(
  (names) => console.log(JSON.stringify(Object.keys(names))),
  ({ code, message }) => console.log(JSON.stringify({ code, message })),
)`
  const args = ['--conditions=@ws/source', '--import', `data:text/javascript,${encodeURIComponent(hook)}`]
  const { stdout } = await run(process.execPath, [...args, '--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
  })
  return JSON.parse(stdout)
}

it.each(['bullmq', 'ioredis'])('says what to install where `%s` is not there', async (missing) => {
  expect(await importWithout(missing, '@ws/runner/bullmq')).toEqual({
    code: 'ENOTSUP',
    message:
      'ENOTSUP: import: `@ws/runner/bullmq` needs the packages `bullmq` and `ioredis`, and cannot load them; install them beside it: `npm install bullmq ioredis`',
  })
})

it('needs neither for a runner without workers', async () => {
  const found = await Promise.all(['bullmq', 'ioredis'].map((missing) => importWithout(missing, '@ws/runner')))
  for (const names of found) expect(names).toContain('createRunner')
})
