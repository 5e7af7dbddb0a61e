import { link, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { renderSharedFiles } from '../src/commands/doctor/index.ts'
import { findSharedFiles } from '../src/config/hard-links.ts'
import { resolveSettings } from '../src/config/settings.ts'
import { createStyle } from '../src/terminal/style.ts'
import type { CommandContext } from '../src/command-context.ts'
import { createProject } from './ws.ts'

it('[HO7] files with further names outside are counted: not those whose names all lie inside, nor through links', async () => {
  await using outside = await createProject({ store: 'x', other: 'x' })
  await using project = await createProject({ 'a/own': '1', plain: '1', 'shown/x': '1' })
  const at = (path: string) => join(project.path, path)
  await link(at('a/own'), at('a/twice'))
  await link(join(outside.path, 'store'), at('a/shared'))
  await link(join(outside.path, 'store'), at('again'))
  await link(join(outside.path, 'other'), at('shown/y'))
  await symlink(outside.path, at('way'))
  await mkdir(at('empty'))
  const settings = await resolveSettings({ root: project.path, at: '/' })
  const { signal } = new AbortController()
  const shared = await findSharedFiles(settings, signal)
  expect(shared).toEqual({ files: 2, examples: ['/again', '/shown/y'], complete: true })
  const output = { name: (text: string) => text } as CommandContext['output']
  const text = renderSharedFiles(shared, { output, style: createStyle(process.stdout) })
  expect(text).toMatch(/2 files have further names outside.*\n {2}\/again\n {2}\/shown\/y\n.*cp -a/u)
  const [first] = settings.mounts
  if (first === undefined) throw new Error('it has a mount')
  const readOnly = { ...settings, mounts: [{ ...first, access: 'read-only' as const }] }
  expect(await findSharedFiles(readOnly, signal)).toMatchObject({ files: 0 })
})

it('a tree that cannot be read counts for nothing', async () => {
  await using scratch = await createScratchDirectory()
  const settings = await resolveSettings({ root: join(scratch.path, 'gone') })
  const { signal } = new AbortController()
  expect(await findSharedFiles(settings, signal)).toEqual({ files: 0, examples: [], complete: true })
})
