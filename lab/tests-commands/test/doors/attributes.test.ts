import { describeWith, component } from '@ws/test-fixtures'
import { expect, it } from 'vitest'
import { doors, openSite } from './site.ts'

for (const door of doors) {
  describeWith(
    door.components.map(component),
    `permission bits and times at both doors: ${door.name}`,
    { tags: [...door.tags] },
    () => {
      it('[PC7] commands see what the file door sets, and the other way round', async () => {
        await using site = await openSite({ root: door.root, executor: door.create(), files: { 'run.sh': 'echo ran' } })
        const { workspace } = site
        await workspace.chmod('run.sh', 0o755)
        await workspace.utimes('run.sh', { modifiedAt: 1_000_000_000_000 })
        expect(await site.run(`stat -c '%a %Y' ${site.at('run.sh')}`)).toBe('755 1000000000\n')
        expect(await site.run(`ls -l ${site.at('run.sh')}`)).toMatch(/^-rwxr-xr-x /)
        await site.run(`chmod 640 ${site.at('run.sh')} && touch -d @1200000000 ${site.at('run.sh')}`)
        expect(await workspace.stat('run.sh')).toMatchObject({ mode: 0o640, modifiedAt: 1_200_000_000_000 })
      })
    },
  )
}
