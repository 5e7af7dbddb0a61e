import { execFileSync } from 'node:child_process'

import { describe, expect, it } from 'vitest'

import { listsOf } from '../src/lists.ts'
import { systemLists } from '../src/system.ts'
import { startWrapper } from '../src/wrapper.ts'
import { type BindOptions, planOf } from './support.ts'

const root = '/Users/me/project'
const owner = { uid: 501, gid: 20 }

/** Returns the profile that the library makes on macOS. Its random names are replaced. */
async function profileOf(
  ...binds: readonly BindOptions[]
): Promise<{ readonly profile: string; readonly command: readonly string[] }> {
  const [directory, none] = ['/EMPTY', '/NONE'] as const
  const wrapper = await startWrapper({ platform: 'darwin', directory, bwrapPath: none, applyPath: none })
  try {
    const plan = planOf(...binds)
    const system = systemLists({ platform: 'darwin', root: plan.root, owner })
    const lists = listsOf(plan, { ...system, temporary: '/private/var/folders/x/T/ws-tmp' })
    const [shell = '', flag = '', text = ''] = await wrapper.wrap({ command: 'the command', lists, uid: owner.uid })
    expect([shell, flag, text.slice(0, 5)]).toEqual(['/bin/sh', '-c', 'exec '])
    const program = '/usr/bin/sandbox-exec'
    expect(text.split(program)).toHaveLength(2)
    // the arguments as a shell reads them
    const printed = execFileSync('/bin/sh', ['-c', text.replace(program, "/usr/bin/printf '%s\\0'")])
    const [option, profile = '', ...command] = printed.toString().split('\0')
    expect(option).toBe('-p')
    const tag = /LogTag: (\S+)/.exec(profile)?.[1] ?? 'no tag'
    return { profile: profile.replaceAll(tag, 'TAG'), command }
  } finally {
    await wrapper.close()
  }
}

describe('the profile of seatbelt', () => {
  it('denies by default, and holds what the plan says', async () => {
    const { profile, command } = await profileOf(
      { at: root },
      { at: `${root}/.env`, kind: 'mask', type: 'file', access: 'none' },
      { at: `${root}/lib`, kind: 'subtree', access: 'read-only' },
    )
    expect(command).toEqual(['/bin/sh', '-c', 'the command', ''])
    const ours = profile.slice(profile.indexOf('; Network'))
    expect(profile).toContain('(deny default')
    await expect(`${ours}\n`).toMatchFileSnapshot('golden/profile.sb')
  })

  it('allows no network, and no Unix socket', async () => {
    const { profile } = await profileOf({ at: root })
    expect(profile).not.toMatch(/\(allow network|AF_UNIX|localhost/)
  })

  it('takes names as they are, with the characters of patterns, quotes and line ends', async () => {
    const odd = `${root}/a[b]*?"c'\\d`
    const { profile } = await profileOf({ at: root }, { at: odd, kind: 'mask', access: 'none' })
    expect(profile).toContain(`(subpath ${JSON.stringify(odd)})`)
    expect(profile).not.toContain('(regex "^/Users')
  })
})
