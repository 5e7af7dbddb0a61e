import { compileGlob, createPathManager, createWorkspace, isWorkspaceError, paths, rules } from '../../src/index.ts'
import { stub } from '../layers/stub.ts'

/** Uses the core where there is no Node. Gives what it found, as text. */
export async function run(): Promise<string> {
  const found: unknown[] = [
    paths.parseVirtual('/notes//a.md'),
    compileGlob('**/{a,b}?.md', { foldCase: true }).matches('/.x/Bß.MD'),
    createPathManager({ workspace: '/w', output: '/w/out' }).isWithinWorkspace('/w/../etc'),
  ]
  const content = new TextEncoder().encode('héllo\nworld\n')
  const { adapter, calls } = stub({
    stat: async (path) => ({ type: path === '/' ? 'directory' : 'file', size: content.length, version: '1' }),
    read: async () => ({ bytes: content, stat: { type: 'file', size: content.length, version: '1' } }),
  })
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter }],
    rules: [rules.denyGlob('*.pem'), rules.readOnly('/docs')],
  })
  found.push(await workspace.readText('/a.md'))
  for (const attempt of [() => workspace.read('/.ssh/X.pem'), () => workspace.write('/docs/a', 'x')]) {
    await attempt().catch((error: unknown) => found.push(isWorkspaceError(error) ? error.message : String(error)))
  }
  await workspace.close()
  found.push(calls.filter((call) => call.startsWith('read')))
  return JSON.stringify(found)
}
