// `check-packages.ts DIRECTORY NAME…` installs packages from tarballs. Without arguments, it packs and checks every package.
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
try {
  const tarballs = pack(scratch)
  const problems = await checkTarballs(tarballs, scratch)
  for (const problem of problems) console.error(problem)
  console.log(`packages: ${tarballs.length} packed and checked, ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
