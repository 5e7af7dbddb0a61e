import { createScratchDirectory } from '@ws/test-fixtures'
import { chmod, link, symlink, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { checkRuntime } from '../src/index.ts'

async function program(path: string): Promise<string> {
  await writeFile(path, '#!/bin/sh\n')
  await chmod(path, 0o755)
  return path
}

const code = (expected: string) => expect.objectContaining({ code: expected, remedy: expect.any(String) })

it('[LS8] finds a configured runtime, before one on PATH', async () => {
  await using scratch = await createScratchDirectory()
  const onPath = await program(`${scratch.path}/srt`)
  const configured = await program(`${scratch.path}/other`)
  const environment = { PATH: `relative:${scratch.path}`, SRT_PATH: configured }
  const options = { name: 'srt', variable: 'SRT_PATH', environment }
  expect(checkRuntime(options)).toEqual({ path: configured, source: 'variable' })
  expect(checkRuntime({ ...options, path: onPath })).toEqual({ path: onPath, source: 'path' })
  expect(checkRuntime({ ...options, environment: { ...environment, SRT_PATH: ' ' } })).toEqual({
    path: onPath,
    source: 'PATH',
  })
  expect(checkRuntime({ name: 'srt', environment: {} })).toBeUndefined()
})

it('[LS8] our own executable is an error: by its path, by a link, by a hard link, and when found on PATH', async () => {
  await using scratch = await createScratchDirectory()
  const own = await program(`${scratch.path}/ws`)
  await symlink(own, `${scratch.path}/by-link`)
  await link(own, `${scratch.path}/srt`)
  for (const path of [own, `${scratch.path}/by-link`, `${scratch.path}/srt`, `${scratch.path}/./ws`]) {
    expect(() => checkRuntime({ name: 'srt', path, own: [own] })).toThrow(code('EINVAL'))
  }
  expect(() => checkRuntime({ name: 'srt', environment: { PATH: scratch.path }, own: [own] })).toThrow(code('EINVAL'))
  expect(() => checkRuntime({ name: 'node', path: process.execPath })).toThrow(code('EINVAL'))
  const other = await program(`${scratch.path}/other`)
  expect(checkRuntime({ name: 'srt', path: other, own: [own] })?.path).toBe(other)
})

it('[LS8] a configured runtime that is missing, no program or relative is an error, and no reason to search on', async () => {
  await using scratch = await createScratchDirectory()
  await program(`${scratch.path}/srt`)
  await writeFile(`${scratch.path}/plain`, '')
  const environment = { PATH: scratch.path }
  for (const path of [`${scratch.path}/missing`, `${scratch.path}/plain`, scratch.path]) {
    expect(() => checkRuntime({ name: 'srt', path, environment })).toThrow(code('ENOEXEC'))
  }
  expect(() => checkRuntime({ name: 'srt', path: 'srt', environment })).toThrow(code('EINVAL'))
})
