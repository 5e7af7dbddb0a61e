import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

/** Prints the files that an import of the door reads, other than our own modules. */
const program = `
  import fs from 'node:fs'
  import { registerHooks, syncBuiltinESMExports } from 'node:module'
  const seen = []
  const { readFileSync } = fs
  fs.readFileSync = (path, ...rest) => (seen.push(String(path)), readFileSync(path, ...rest))
  syncBuiltinESMExports()
  registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) })
  await import('@ws/sandbox')
  console.log(JSON.stringify(seen.filter((one) => !/^node:|[/]src[/].*[.]ts$/.test(one))))`

it('an import of the door reads no Perl program, and loads neither execa nor the terminal library', async () => {
  const parameters = ['--conditions=@ws/source', '--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: import.meta.dirname })
  expect(JSON.parse(stdout)).toEqual([])
})
