import { type FileDoor, isWorkspaceError, paths } from '@ws/core'
import { guaranteeFields, type HostPath } from '@ws/core/executor'
import { component, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'
import { layOut, translatedRoot } from '../src/view/layout.ts'
import { findMisplaced } from '../src/run/mount-check.ts'
import { explainFailure } from '../src/bwrap/failure.ts'

const root = paths.parseVirtual('/workspace')
const files = undefined as unknown as FileDoor

describe('createBubblewrapExecutor', () => {
  it('answers options without a meaning with EINVAL', () => {
    const wrong = [
      { network: 'some' },
      { unixSockets: 'all' },
      { env: ['A=B'] },
      { env: 'PATH' },
      { scratchBytes: 1 },
      { scratchBytes: 1.5 },
    ] as unknown as Parameters<typeof createBubblewrapExecutor>[]
    for (const options of wrong.flat()) {
      expect(() => createBubblewrapExecutor(options)).toThrow(expect.objectContaining({ code: 'EINVAL' }) as Error)
    }
  })

  describeWith(component('bubblewrap'), 'with bubblewrap', () => {
    it('declares a kernel boundary where one has been seen, and nothing that only the API can judge', async () => {
      const report = await createBubblewrapExecutor().probe({ root, owner: ordinaryOwner() })
      expect(report).toMatchObject({ available: true, missing: [], howToFix: [] })
      expect(report.details['bubblewrap']).toMatch(/^\d+\.\d+/)
      for (const field of guaranteeFields)
        expect(report.guarantees[field]).toBe(field === 'apiRules' ? 'none' : 'kernel')
    })

    it('does not claim network and sockets where the network is the host’s', async () => {
      const { guarantees } = await createBubblewrapExecutor({ network: 'host' }).probe({ root, owner: ordinaryOwner() })
      expect(guarantees).toMatchObject({ network: 'none', sockets: 'none', fileContent: 'kernel' })
      const without = createBubblewrapExecutor({ network: 'host', unixSockets: 'none' })
      const report = await without.probe({ root, owner: ordinaryOwner() })
      expect(report.guarantees).toMatchObject({ network: 'none', sockets: 'kernel' })
    })

    it('answers an abort with its reason, and a later question none the less', async () => {
      const executor = createBubblewrapExecutor()
      const signal = AbortSignal.abort(new Error('not now'))
      await expect(executor.probe({ root, owner: ordinaryOwner(), signal })).rejects.toThrow('not now')
      expect((await executor.probe({ root, owner: ordinaryOwner() })).available).toBe(true)
    })

    it('never runs as root: it refuses an owner that is root, or none, where it would have to', async () => {
      const executor = createBubblewrapExecutor()
      const asRoot = await executor.probe({ root, owner: { uid: 0, gid: 0 } })
      expect(asRoot.available).toBe(false)
      expect(asRoot.missing.join()).not.toBe('')
      await expect(executor.attach({ root, owner: { uid: 0, gid: 0 }, files })).rejects.toSatisfy((error) =>
        isWorkspaceError(error, 'ENOEXECUTOR'),
      )
      if (process.getuid?.() !== 0) return
      await expect(executor.attach({ root, files })).rejects.toThrow(/never run as root/)
    })
  })
})

describe('what is checked before a command runs', () => {
  const table = [
    '65 42 0:40 /newroot / ro,nosuid - tmpfs tmpfs rw',
    '76 65 254:0 /home/me/ws /workspace rw,nosuid - ext4 /dev/vda rw',
    '77 76 254:0 /home/me/ws/a\\040b /workspace/a\\040b rw - ext4 /dev/vda rw',
    '78 77 0:41 / /workspace/a\\040b/secret ro - tmpfs tmpfs rw',
  ]
  const placement = { virtual: root, type: 'directory', readOnly: false } as const
  const pin = { ...placement, at: '/workspace/a b', show: 'source', source: '/home/me/ws/a b' as HostPath } as const
  const mask = { ...placement, at: '/workspace/a b/secret', show: 'mask', readOnly: true } as const
  const mounted = () => ({ device: '254:0', root: '/home/me/ws/a b' })
  const misplaced = (lines: readonly string[]) => findMisplaced(lines.join('\n'), [pin, mask], mounted)

  it('is that every bind and mask is at its own place', () => {
    expect(misplaced(table)).toBeUndefined()
  })

  it('finds a mask elsewhere, a source moved or of another file system, and what may be written though it must not', () => {
    const change = (line: number, from: string, to: string) =>
      table.map((text, index) => (index === line ? text.replace(from, to) : text))
    expect(misplaced(change(3, '/workspace/a\\040b/secret', '/workspace/other/secret'))).toBe(mask)
    expect(misplaced(change(3, 'secret ro', 'secret rw'))).toBe(mask)
    expect(misplaced(change(3, 'tmpfs tmpfs', 'ext4 /dev/vda'))).toBe(mask)
    expect(misplaced(change(2, '/home/me/ws/a\\040b', '/home/me/ws/moved'))).toBe(pin)
    expect(misplaced(change(2, '/home/me/ws/a\\040b', '/home/me/ws/a\\040b//deleted'))).toBe(pin)
    expect(misplaced(change(2, '254:0', '254:1'))).toBe(pin)
    expect(misplaced([...table, '79 78 254:0 /x /workspace/a\\040b/secret rw - ext4 /dev/vda rw'])).toBe(mask)
  })

  it('finds the same where names need no escape', () => {
    const plainly = (text: string) => text.replaceAll('a\\040b', 'ab')
    const places = [
      { ...pin, at: '/workspace/ab', source: '/home/me/ws/ab' as HostPath },
      { ...mask, at: '/workspace/ab/secret' },
    ]
    const found = (lines: readonly string[]) =>
      findMisplaced(lines.map(plainly).join('\n'), places, () => ({ device: '254:0', root: '/home/me/ws/ab' }))
    expect(found(table)).toBeUndefined()
    expect(found(table.slice(0, 3))).toBe(places[1])
    expect(found(table.map((text) => text.replace('secret ro', 'secret rw')))).toBe(places[1])
    expect(found(table.map((text) => text.replace('254:0 /home/me/ws/a', '254:0 /home/me/ws/moved')))).toBe(places[0])
    // A later mount over the first; a place that the root of another mount is called by.
    expect(found([...table, '79 78 254:0 /x /workspace/ab/secret rw - ext4 /dev/vda rw'])).toBe(places[1])
    expect(found([...table, '79 65 254:0 /workspace/ab /workspace/other rw - ext4 /dev/vda rw'])).toBeUndefined()
  })
})

describe('the layout of a plan', () => {
  const source = '/home/me/ws' as HostPath
  const mount = { kind: 'mount', type: 'directory', source, access: 'read-write', rules: [] } as const
  const plan = { root: paths.parseVirtual('/'), aliases: [], restrictions: [], renameBorders: [] }

  const atRoot = {
    ...plan,
    binds: [
      { ...mount, at: paths.parseVirtual('/') },
      { ...mount, kind: 'scratch', source: '/tmp/scratch' as HostPath, at: paths.parseVirtual('/tmp') },
      { ...mount, kind: 'mask', source: undefined, at: paths.parseVirtual('/secret') },
    ],
  } as const

  it('puts what a mount at / translates into a directory of its own, and /tmp beside it', () => {
    const { placements } = layOut(atRoot, 'translated')
    expect(placements.map(({ at, beneath }) => ({ at, beneath }))).toEqual([
      { at: translatedRoot, beneath: undefined },
      { at: '/.tmp', beneath: undefined },
      { at: `${translatedRoot}/secret`, beneath: '/home/me/ws/secret' },
    ])
  })

  it('lays the system over the names of a root that is the workspace itself, and all of it again below an alias', () => {
    const { placements } = layOut({ ...atRoot, aliases: [paths.parseVirtual('/again')] }, 'direct', ['usr', 'proc'])
    expect(placements.map(({ at, show, beneath }) => [at, show, beneath])).toEqual([
      ['/', 'source', undefined],
      ['/usr', 'system', '/home/me/ws/usr'],
      ['/proc', 'system', '/home/me/ws/proc'],
      ['/tmp', 'source', '/home/me/ws/tmp'],
      ['/secret', 'mask', '/home/me/ws/secret'],
      ['/again', 'again', '/home/me/ws/again'],
      ['/again/again', 'empty', '/home/me/ws/again'],
    ])
  })

  it('knows what lies on the disk below each place, through the innermost bind around it', () => {
    const binds = [
      { ...mount, at: root },
      { ...mount, at: paths.parseVirtual('/workspace/skills'), source: '/srv/skills' as HostPath },
      { ...mount, kind: 'mask', source: undefined, at: paths.parseVirtual('/workspace/skills/private') },
      { ...mount, kind: 'closed', source: undefined, at: paths.parseVirtual('/workspace/area') },
      { ...mount, kind: 'subtree', at: paths.parseVirtual('/workspace/area/open') },
    ] as const
    const { placements } = layOut({ ...plan, binds }, 'below')
    expect(placements.map(({ beneath }) => beneath)).toEqual([
      undefined,
      '/home/me/ws/skills',
      '/srv/skills/private',
      '/home/me/ws/area',
      undefined,
    ])
  })

  it('refuses what cannot be shown', () => {
    const without = { ...mount, source: undefined, at: paths.parseVirtual('/') }
    expect(() => layOut({ ...plan, binds: [without] }, 'direct')).toThrow(/EUNENFORCEABLE/)
    const aliased = {
      ...plan,
      binds: [{ ...mount, at: paths.parseVirtual('/') }],
      aliases: [paths.parseVirtual('/a:b')],
    }
    expect(() => layOut(aliased, 'translated')).toThrow(/EUNENFORCEABLE/)
  })
})

describe('what bubblewrap says when it cannot start', () => {
  it('becomes a reason and a remedy without host paths', () => {
    const remedies = {
      'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces':
        /sysctl/,
      'bwrap: setting up uid map: Permission denied': /seccomp=unconfined.*systempaths=unconfined/,
      'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)':
        /as many namespaces.*max_user_namespaces=/,
      'bwrap: pivot_root: Operation not permitted': /pivot_root.*seccomp=unconfined/,
      'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted': /AppArmor/,
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted": /systempaths/,
      'bwrap: Unknown option --bind-fd': /0\.8/,
      "bwrap: Can't find source path /proc/self/fd/9: Permission denied": /may not pass.*0711/,
      "bwrap: Can't mkdir /newroot/a: No space left on device": /no space.*free/,
      "bwrap: Can't create file at /newroot/a: Read-only file system": /read-only/,
      "bwrap: Can't bind mount /oldroot/a on /newroot/a: Cannot allocate memory": /fewer commands/,
    }
    for (const [said, remedy] of Object.entries(remedies)) {
      const failure = explainFailure(said)
      expect(`${failure.reason}; ${failure.remedy}`).toMatch(remedy)
      expect(failure.changed).toBeUndefined()
    }
    for (const said of [
      'Race condition binding dirfd',
      "Can't stat mount at /newroot/dir/name: No such file or directory",
    ])
      expect(explainFailure(`bwrap: ${said}`).changed).toBe(true)
    expect(explainFailure("bwrap: Can't create file at /newroot/home/me/secret").reason).not.toContain('/home/me')
  })
})
