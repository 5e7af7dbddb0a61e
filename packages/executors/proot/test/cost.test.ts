import { spawnSync } from 'node:child_process'

import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { Bench, owner } from './support.ts'

describeWith([component('proot'), component('perl')], 'the cost of a command', () => {
  it('is a small multiple of the bare proot command line', async () => {
    await using bench = await Bench.create('/')
    await using supervised = await Bench.create('/', { pidNamespace: 'off' })
    const identity = process.getuid?.() === 0 ? owner : {}
    const bare = [
      '-r',
      bench.workspace,
      ...['/usr', '/bin', '/lib', '/lib64'].flatMap((path) => ['-b', path]),
      '-w',
      '/',
    ]
    const runs: Record<string, () => unknown> = {
      plain: () => spawnSync('/bin/sh', ['-c', 'true'], identity),
      proot: () =>
        spawnSync('/usr/bin/proot', [...bare, '/bin/sh', '-c', 'true'], {
          ...identity,
          env: { PROOT_DONT_POLLUTE_ROOTFS: '1' },
        }),
      namespace: () => bench.run('true', { shell: '/bin/sh' }),
      supervisor: () => supervised.run('true', { shell: '/bin/sh' }),
    }
    const times: Record<string, number[]> = {}
    for (let round = 0; round < 8; round++) {
      for (const [name, run] of Object.entries(runs)) {
        const before = performance.now()
        await run()
        ;(times[name] ??= []).push(performance.now() - before)
      }
    }
    const medians = Object.fromEntries(
      Object.entries(times).map(([name, values]) => [name, values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0]),
    )
    const { proot = 0, namespace = 0, supervisor = 0 } = medians
    // Generous: it is a guard against a lost order of magnitude, not a benchmark.
    expect(namespace).toBeLessThan(proot * 10 + 50)
    expect(supervisor).toBeLessThan(proot * 10 + 50)
  })
})
