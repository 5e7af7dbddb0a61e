/** @module-tag deep */
import { execFileSync } from 'node:child_process'

import { rules } from '@ws/core'
import { asOwner, component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { useRuleSite } from './support/rule-site.ts'
import { modes, needed } from './support/workbench.ts'

const git = 'git --no-pager -c user.name=n -c user.email=e -c protocol.file.allow=always'

const project = `set -e
${git} init -q shared; ${git} -C shared commit -q --allow-empty -m first; ${git} init -q .
for n in $(seq 28); do ${git} submodule --quiet add ./shared sub/$n; done; ${git} commit -qm subs
for n in $(seq 190); do mkdir -p app/$n; echo hush > app/$n/.env; done`

const work = `cd sub/7; ${git} commit -q --allow-empty -m inside; ${git} log -1 --format=%s
cd ../..; ${git} add sub/7; ${git} commit -q --allow-empty -m outside; ${git} log -1 --format=%s; cat app/*/.env | wc -c
for one in .git .git/modules/sub/7; do { echo x > $one/hooks/x || mkdir $one/hooks || echo x >> $one/config; } || echo held; done`

for (const mode of modes) {
  const components = [...needed[mode], component('git')]
  describeWith(components, `28 submodules and 190 secrets (${mode})`, { timeout: 240_000 }, () => {
    const site = useRuleSite(mode)

    it('[RU10] let a commit in a submodule through, and no secret, in commands and in a terminal', async () => {
      const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
      execFileSync('sh', ['-c', project], { ...asOwner(site.owner), env, cwd: site.root, stdio: 'pipe' })
      const workspace = await site.open(rules.protectHooks(), rules.protectSecrets())
      const held = 'inside\noutside\n0\nheld\nheld\n'
      // a command that starts warm, where it may
      await workspace.exec('true')
      const { exitCode, stdout, stderr } = await workspace.exec(work)
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: held })
      expect(stderr.match(/app\/\d+\/\.env: Permission denied/g)).toHaveLength(190)
      const session = await workspace.openSession({
        command: `{ ${work}; } 2> errors; grep -c 'env: Perm' errors`,
        login: false,
      })
      expect(await session.wait()).toMatchObject({ exitCode: 0 })
      expect(session.read().text.replaceAll('\r', '')).toBe(`${held}190\n`)
    })
  })
}
