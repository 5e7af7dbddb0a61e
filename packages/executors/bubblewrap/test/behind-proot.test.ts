import { paths } from '@ws/core'
import { Reserve, sandboxProgram, systemTree, viewEnvironment } from '@ws/sandbox'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { KeptContents } from '../src/bwrap/kept-contents.ts'
import { layOut } from '../src/view/layout.ts'
import { findPrograms } from '../src/programs.ts'
import { startSandbox } from '../src/start/start.ts'
import { openSources } from '../src/view/sources.ts'
import { needed, Workbench } from './support/workbench.ts'

const guard = { starting: () => () => undefined, close: () => undefined }

/** Runs a command in the very tree that proot is given, without proot: what a program sees that has got past it. */
async function runBehind(bench: Workbench, command: string, parts: Parameters<Workbench['run']>[1] = {}) {
  const layout = layOut(bench.plan(parts), 'translated')
  const { owner } = bench.scratch
  const root = paths.parseVirtual('/')
  using contents = new KeptContents()
  using sources = await openSources(layout.placements)
  const keeper = Reserve.useNameKeeper()
  const { bwrap = '' } = await findPrograms()
  const output = { stdout: '', stderr: '' }
  const sandbox = await startSandbox({
    command: {
      layout: { ...layout, mode: 'below', aliases: [] },
      sources,
      reserved: new Map(),
      system: systemTree({ root, owner }),
      argv: ['/bin/sh', '-c', command],
      env: viewEnvironment({ root }),
      cwd: root,
      extraFds: new Map(),
      contents,
      seccomp: sandboxProgram({ allowPtrace: true, forProot: true }),
      network: 'none',
      scratchBytes: 1 << 20,
      limits: {},
      tools: [],
      bwrap,
    },
    owner,
    guard,
    keeper: () => keeper,
    onStdout: (chunk) => void (output.stdout += Buffer.from(chunk)),
    onStderr: (chunk) => void (output.stderr += Buffer.from(chunk)),
  })
  await sandbox.process.wait()
  await sandbox.errorsRead
  await sandbox.watch?.end()
  keeper.close()
  return output
}

describeWith(needed.translated, 'a program that has got past proot', () => {
  it('finds the same files, masked and read-only as in the view, and nothing of the host', async () => {
    await using bench = await Workbench.create('translated')
    await bench.file(bench.host('dir/secret'), 'hush')
    await bench.file(bench.host('dir/open'), 'open')
    await bench.file(bench.host('fixed/file'), 'fixed')
    await bench.file(bench.outside('secret'), 'outside secret')
    const parts = [
      { kind: 'pin', at: '/dir' },
      { kind: 'mask', at: '/dir/secret', type: 'file' },
      { kind: 'subtree', at: '/fixed', access: 'read-only' },
    ] as const
    const command = [
      'ls -A /',
      'cat /.ws/dir/open /.ws/fixed/file; echo',
      `cat /.ws/dir/secret ${bench.outside('secret')} ${bench.host('dir/secret')}`,
      'echo x > /.ws/fixed/file; mv /.ws/dir /.ws/away; touch /.ws/fixed/new /new',
    ].join('; ')
    const { stdout, stderr } = await runBehind(bench, command, { parts })
    const names = stdout.split('\n')
    expect(names.slice(0, -2)).toEqual(expect.arrayContaining(['.tmp', '.ws', 'bin', 'usr', 'etc', 'proc', 'dev']))
    expect(names.slice(0, -2).filter((name) => /^(?:home|root|work|var|opt|srv|mnt)$/.test(name))).toEqual([])
    expect(names.at(-2)).toBe('openfixed')
    expect(stderr.match(/Permission denied|No such file|Read-only file system|resource busy/g)).toEqual([
      'Permission denied',
      'No such file',
      'No such file',
      'Read-only file system',
      'resource busy',
      'Read-only file system',
      'Read-only file system',
    ])
  })
})
