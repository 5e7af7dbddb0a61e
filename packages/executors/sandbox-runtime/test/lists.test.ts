import { describe, expect, it } from 'vitest'

import { listsOf } from '../src/lists.ts'
import { systemLists } from '../src/system.ts'
import { type BindOptions, planOf } from './support.ts'

const root = '/Users/me/project'
const temporary = '/private/var/folders/x/T/ws-tmp'
const owner = { uid: 501, gid: 20 }
const outside = { ...systemLists({ platform: 'darwin', root: planOf({ at: root }).root, owner }), temporary }
const project: BindOptions = { at: root }

/** Plans that the library can hold, as the core makes them. */
const plans: Readonly<Record<string, readonly BindOptions[]>> = {
  'a project': [project],
  'a denied file, and a denied directory': [
    project,
    { at: `${root}/.env`, kind: 'mask', type: 'file', access: 'none' },
    { at: `${root}/a`, kind: 'pin' },
    { at: `${root}/a/[secret]*`, kind: 'mask', access: 'none' },
  ],
  'a read-only part, and a pinned file': [
    project,
    { at: `${root}/.git/hooks`, kind: 'subtree', access: 'read-only' },
    { at: `${root}/worktree/.git`, kind: 'pin', type: 'file' },
  ],
  'a read-only mount with a writable part': [
    { ...project, access: 'read-only' },
    { at: `${root}/out`, kind: 'subtree' },
  ],
  'two mounts, and temporary files of the workspace': [
    { at: '/tmp', kind: 'scratch', source: '/private/var/folders/x/T/ws-scratch' },
    project,
    { at: '/Users/me/library', access: 'read-only' },
    { at: '/tmp/kept', kind: 'mask', access: 'none' },
  ],
}

describe('a plan becomes lists of literal paths', () => {
  it.for(Object.entries(plans))('%s', async ([name, binds]) => {
    const { readable, unreadable, unwritable } = outside
    const { denyRead, allowRead, allowWrite, denyWrite, reopened } = listsOf(planOf(...binds), outside)
    const own = (all: readonly string[], system: readonly string[]) => all.filter((path) => !system.includes(path))
    const shown = {
      denyRead: own(denyRead, unreadable),
      allowRead: own(allowRead, readable),
      allowWrite,
      denyWrite: own(denyWrite, unwritable),
      reopened,
    }
    await expect(`${JSON.stringify(shown, null, 2)}\n`).toMatchFileSnapshot(
      `golden/${name.replaceAll(/\W+/g, '-')}.txt`,
    )
  })

  it('with the rest of macOS denied, but for what programs need', async () => {
    const { readable, unreadable, unwritable } = outside
    const shown = { unreadable, unwritable, readable }
    await expect(`${JSON.stringify(shown, null, 2)}\n`).toMatchFileSnapshot('golden/macos.txt')
  })
})

describe('a plan that the library cannot hold is refused, with the rule', () => {
  const refused: Readonly<Record<string, readonly BindOptions[]>> = {
    'a mount at another path': [{ at: '/workspace', source: root }],
    'an allowed entry in a denied directory': [project, { at: `${root}/a`, kind: 'closed', access: 'none' }],
    'a writable part of a read-only part': [
      project,
      { at: `${root}/a`, kind: 'subtree', access: 'read-only' },
      { at: `${root}/a/b`, kind: 'subtree' },
    ],
    'a readable part of a denied part': [
      project,
      { at: `${root}/a`, kind: 'mask', access: 'none' },
      { at: `${root}/a/b`, kind: 'subtree', access: 'read-only' },
    ],
    'a stricter part of a writable part of a read-only mount': [
      { ...project, access: 'read-only' },
      { at: `${root}/out`, kind: 'subtree' },
      { at: `${root}/out/a`, kind: 'subtree', access: 'read-only' },
    ],
  }
  it.for(Object.entries(refused))('%s', ([, binds]) => {
    const refusal = expect.objectContaining({ code: 'EUNENFORCEABLE', rule: 'the rule' })
    expect(() => listsOf(planOf(...binds), outside)).toThrow(refusal)
  })

  it('an alias', () => {
    const plan = { ...planOf(project), aliases: [planOf({ at: '/workspace' }).root] }
    expect(() => listsOf(plan, outside)).toThrow(expect.objectContaining({ code: 'EUNENFORCEABLE' }))
  })
})
