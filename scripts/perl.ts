// Fails if perl warns about a script of this project, or perlcritic finds a problem. Part of `npm run lint`.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

import { packageFolders } from '@ws/test-fixtures/report'

import { repositoryRoot } from './lib/run.ts'

process.chdir(repositoryRoot)
const scripts = globSync(`${packageFolders}/src/**/*.pl`).sort()
const complaints = scripts.flatMap((script) => {
  const said = run('/usr/bin/perl', ['-cw', script])
  return said === `${script} syntax OK\n` ? [] : [said ?? 'perl is not installed']
})
const verbose = ['--verbose', '%f:%l: %m (%p)\\n']
const criticism = run('perlcritic', ['--quiet', '--profile', '.perlcriticrc', ...verbose, ...scripts])
if (criticism === undefined) console.error('perl: perlcritic is not installed; `npm run setup:system` brings it')
else if (criticism !== '') complaints.push(criticism)
for (const complaint of complaints) console.error(complaint.trimEnd())
console.log(`perl: ${scripts.length} scripts, ${complaints.length} problems`)
const isIncomplete = criticism === undefined && process.env['WS_REQUIRE_ALL'] === '1'
process.exitCode = complaints.length > 0 || isIncomplete || scripts.length === 0 ? 1 : 0

function run(program: string, args: readonly string[]): string | undefined {
  const { error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return error === undefined ? stdout + stderr : undefined
}
