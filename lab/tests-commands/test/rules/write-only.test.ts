import { rules } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { codeOf, component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { doors, openSite } from '../doors/site.ts'
import { openMemory } from '@ws/tests-files'

const writeOnly = [rules.withinOutput('out', { readable: false })]

describe('an output that cannot be read back', () => {
  it('holds at the file API and in the virtual executor', async () => {
    const { workspace, adapters } = await openMemory(
      { '/': { '/out/old': 'old', '/in': 'in' } },
      { rules: writeOnly, executors: [createVirtualExecutor()] },
    )
    expect(await codeOf(workspace.write('/out/api', 'by the API'))).toBe('done')
    expect(await codeOf(workspace.read('/out/api'))).toBe('EACCES')
    expect((await workspace.exec('cat in > out/shell')).exitCode).toBe(0)
    expect((await workspace.exec('echo more >> out/added')).exitCode).toBe(0)
    const read = await workspace.exec('cat out/old out/shell; ls out; cp out/old in2; grep -r old out; echo ends')
    expect(read.stdout).toBe('ends\n')
    const text = async (path: string) => new TextDecoder().decode((await adapters[0]?.read(path as never))?.bytes)
    expect([await text('/out/shell'), await text('/out/added')]).toEqual(['in', 'more\n'])
  })

  for (const door of doors)
    describe(`in commands, ${door.name}`, { tags: [...door.tags] }, () => {
      describeWith(door.components.map(component), 'of real programs', { tags: [...door.tags] }, () => {
        it('is refused with what can hold it, and not with itself', async () => {
          await using site = await openSite({ root: door.root, executor: door.create(), rules: () => writeOnly })
          await expect(site.attempt('true')).rejects.toThrow(
            /EUNENFORCEABLE.*`withinOutput\(out\)`\); use the file API, or the virtual executor, which holds it; as a last resort/,
          )
        })
      })
    })
})
