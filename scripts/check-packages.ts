// `check-packages.ts DIRECTORY NAME…` installs packages from tarballs. Without arguments, it packs and checks every package.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { installInto, pack } from './lib/packed.ts'
import { checkTarballs } from './lib/tarball-checks.ts'

const [target, ...names] = process.argv.slice(2)
if (target !== undefined) {
  const project = resolve(process.env['INIT_CWD'] ?? '.', target)
  installInto(project, names, pack(join(project, 'ws-packages')))
  console.log(`installed into ${project}: ${names.join(' ')}`)
  process.exit()
}

const scratch = mkdtempSync(join(tmpdir(), 'ws-pack-'))
// the check depends on no network, and on no version that is newer than the lock file
const registry = fork(new URL('lib/registry.ts', import.meta.url))
try {
  const [address] = (await once(registry, 'message')) as [string]
  const tarballs = pack(scratch)
  Object.assign(process.env, { npm_config_registry: address, npm_config_cache: join(scratch, 'npm-cache') })
  const problems = await checkTarballs(tarballs, scratch)
  for (const problem of problems) console.error(problem)
  console.log(`packages: ${tarballs.length} packed and checked, ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  registry.kill()
  rmSync(scratch, { recursive: true, force: true })
}
