import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import type { Placement } from '../../src/container/tree/layout.ts'
import { checkPlaces, lostCovers, parseLook, placesOf, verifyTree } from '../../src/container/tree/verify.ts'

describe('the comparison of a container with its plan', () => {
  const path = (text: string) => text as never
  const here: Placement = {
    at: '/workspace',
    virtual: path('/workspace'),
    show: 'source',
    type: 'directory',
    source: path('/'),
    readOnly: false,
  }
  const table = (options: string, more = '') =>
    `92 74 254:0 /x /workspace ${options},relatime - ext4 /dev/vda rw\n${more}`
  const look = (entry: string, mounts: string) => parseLook(`${entry}\n\n${mounts}\nName: perl\n\nlo\n`)
  const identities = () => '2049:7'

  it('takes the mount that its plan names', () => {
    expect(verifyTree([here], look('2049 7 0', table('rw')), identities).size).toBe(0)
  })

  it('refuses another entry, a writable part, other users, another machine and a writable mount below', () => {
    const device = String(
      Number(
        placesOf([{ ...here, beneath: path('/') }])
          .get(path('/'))
          ?.split(':')[0],
      ),
    )
    const judge = (placement: Placement, entry: string, mounts: string) => () =>
      verifyTree([placement], look(entry, mounts), identities)
    expect(judge(here, `${device} 8 0`, table('rw'))).toThrow(/EBUSY.*exchanged/)
    expect(judge(here, '-', table('rw'))).toThrow(/other files/)
    expect(judge(here, '999 8 0', table('rw'))).toThrow(/ENOEXECUTOR.*sees other files/)
    expect(judge(here, '2049 7 100000', table('rw'))).toThrow(/ENOEXECUTOR.*other users/)
    expect(judge({ ...here, readOnly: true }, '2049 7 0', table('rw'))).toThrow(/EBUSY/)
    expect(judge(here, '2049 7 0', '')).toThrow(/EBUSY/)
    const below = '93 92 0:50 / /workspace/deep rw - tmpfs tmpfs rw\n'
    expect(judge({ ...here, readOnly: true }, '2049 7 0', table('ro', below))).toThrow(/EUNENFORCEABLE.*Docker 25/)
  })

  it('refuses a mount point that the engine made, and says so', async () => {
    await using scratch = await createScratchDirectory()
    const beneath = path(join(scratch.path, 'hooks'))
    mkdirSync(beneath)
    const placement = { ...here, beneath }
    const before = placesOf([placement])
    expect(() => checkPlaces([placement], before)).not.toThrow()
    renameSync(beneath, join(scratch.path, 'moved'))
    expect(() => checkPlaces([placement], before)).toThrow(/EBUSY/)
    mkdirSync(beneath)
    // as root, this test makes it as the engine would
    const said = process.getuid?.() === 0 ? /EIO.*engine may have made/ : /EBUSY/
    expect(() => checkPlaces([placement], before)).toThrow(said)
  })

  it('names the parts whose mounts are gone', () => {
    const hooks = { ...here, virtual: path('/workspace/hooks'), beneath: path('/hooks') }
    const covers = new Map([
      ['92', here],
      ['93', hooks],
    ])
    expect(lostCovers(covers, '92 74 254:0 / /workspace rw\n93 92 254:0 / /workspace/hooks ro\n')).toEqual([])
    expect(lostCovers(covers, '92 74 254:0 / /workspace rw\n193 92 254:0 / /other ro\n')).toEqual([hooks])
  })
})
