import { expect, it } from 'vitest'

import { type Kind, shareEngine, siteOf } from './support/site.ts'

shareEngine()

const names = ['bin', 'dev', 'etc', 'lib', 'proc', 'usr', 'tmp', 'workspace']

for (const kind of ['memory', 'local', 'r2'] as const satisfies readonly Kind[]) {
  const tags = kind === 'r2' ? (['all'] as const) : []
  it(`[UN1] names of the system at \`/\` are saved, compared and restored like any other: ${kind}`, {
    tags: [...tags],
  }, async () => {
    const first = await siteOf({ kind, scratch: false, aliases: {} })
    for (const name of names) await first.workspace.write(`/${name}/a.js`, 'one')
    const { id } = await first.workspace.checkpoint()
    for (const name of names) await first.workspace.write(`/${name}/a.js`, 'two')
    await first.workspace.delete('/lib', { recursive: true })
    const changes = await first.workspace.changes({ since: id })
    expect(changes.map(({ kind: what, path }) => `${what} ${path}`).sort()).toEqual(
      [
        ...names.filter((name) => name !== 'lib').map((name) => `changed /${name}/a.js`),
        'deleted /lib',
        'deleted /lib/a.js',
      ].sort(),
    )
    const { kept } = await first.workspace.restore(id)
    expect(kept).toEqual([])
    for (const name of names) expect(await first.workspace.readText(`/${name}/a.js`), name).toBe('one')
    await first.workspace.close()
  })
}
