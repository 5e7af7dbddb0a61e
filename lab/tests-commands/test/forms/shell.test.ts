/** @module-tag all */
import { component, describeWith } from '@ws/test-fixtures'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { openSite } from '../doors/site.ts'
import { views } from './executors.ts'

/** A tool that only login files put on PATH. */
const files = {
  'tools/own-tool': '#!/bin/sh\necho "own $*"\n',
  '.bash_profile': 'PATH="$HOME/tools:$PATH"\n',
}

for (const { name, root, components, create } of views) {
  describeWith(components.map(component), `the shell in ${name}`, () => {
    const open = async () => {
      const site = await openSite({ root, executor: create(), files })
      await chmod(join(site.directory, 'tools/own-tool'), 0o755)
      return site
    }

    it('[LS1] [LS9] looks programs up itself: what login files put on PATH, never what is on ours', async () => {
      await using site = await open()
      const { workspace, directory } = site
      for (const command of ['own-tool a b', ['own-tool', 'a', 'b'], { 'command.0': 'own-tool', 'command.1': 'a b' }])
        expect(await workspace.exec(command, { shell: 'bash' })).toMatchObject({ exitCode: 0, stdout: 'own a b\n' })
      const before = process.env['PATH']
      process.env['PATH'] = `${join(directory, 'tools')}:${before}`
      try {
        // Without the login files it is not there, although this process would find it.
        for (const command of ['own-tool', ['own-tool']])
          expect((await workspace.exec(command, { shell: 'bash', login: false })).exitCode).toBe(127)
      } finally {
        process.env['PATH'] = before
      }
    })

    it('[LS12] is the one that the words name, and no second one around it', async () => {
      await using site = await open()
      const { workspace } = site
      const show = 'tr "\\0" "|" < /proc/$$/cmdline; :'
      for (const [flag, readsLoginFiles] of [
        ['-c', false],
        ['-lc', true],
      ] as const) {
        const { stdout } = await workspace.exec(['bash', flag, show])
        // The shell is named by its full path: a shell that another shell had started would have the name as it was
        // given.
        expect(stdout).toMatch(/^\/\S*bash\|/)
        expect(stdout.endsWith(`bash|${flag}|${show}|`), stdout).toBe(true)
        expect((await workspace.exec(['bash', flag, 'own-tool'])).exitCode).toBe(readsLoginFiles ? 0 : 127)
      }
      // With arguments of its own it is a program as any other.
      expect((await workspace.exec(['sh', '-c', 'echo "$0 $1"', 'zero', 'a b'])).stdout).toBe('zero a b\n')
    })
  })
}
