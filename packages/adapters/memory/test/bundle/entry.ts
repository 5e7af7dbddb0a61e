// By name, so that it runs over the sources and over the packed packages alike.
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, isWorkspaceError, rules } from '@ws/core'

/** Node searches it in a thread. */
const longLine = `${'x'.repeat(40_000)}end`

/** Uses a workspace in memory where there is no Node. Gives what it found, as text. */
export async function run(): Promise<string> {
  const found: unknown[] = []
  const files = { '/notes/a.md': 'one\ntwo\n', '/long': longLine, '/key.pem': 'k' }
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: createMemoryAdapter({ files, now: () => 1_000 }) }],
    rules: [rules.denyGlob('*.pem')],
  })
  const { version } = await workspace.stat('/notes/a.md')
  await workspace.write('/notes/a.md', 'three\n', { ifVersion: version })
  await workspace.append('/notes/a.md', 'fóur\n')
  await workspace.move('/notes/a.md', '/notes/b.md')
  await workspace.copy('/notes', '/copy', { recursive: true })
  found.push(await workspace.readText('/copy/b.md'))
  for await (const { path, type, size } of workspace.list('/', { recursive: true })) found.push([path, type, size])

  for await (const { path, line, column } of workspace.search('f.ur|[a-z]nd', { regex: true })) {
    found.push([path, line, column])
  }
  const refused = [() => workspace.write('/notes/b.md', 'x', { ifVersion: version }), () => workspace.read('/key.pem')]
  for (const attempt of refused) {
    await attempt().catch((error: unknown) => found.push(isWorkspaceError(error) ? error.message : String(error)))
  }
  await workspace.close()
  return JSON.stringify(found)
}
