import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { realpath } from '@ws/adapter-local'
import { createPathManager, type PathManager } from '@ws/core'
import { createScratchDirectory, processorTimeOf, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

describe("the path manager with the local adapter's realpath", () => {
  let scratch: ScratchDirectory
  let base: string
  let manager: PathManager

  beforeEach(async () => {
    scratch = await createScratchDirectory()
    base = scratch.path
    for (const path of ['ws/src', 'ws/out', 'outside']) mkdirSync(join(base, path), { recursive: true })
    writeFileSync(join(base, 'outside/secret'), 'secret')
    symlinkSync('../outside', join(base, 'ws/escape'))
    symlinkSync('../../outside/new', join(base, 'ws/out/dangling'))
    symlinkSync('../src', join(base, 'ws/out/in'))
    symlinkSync('loop', join(base, 'ws/loop'))
    symlinkSync('ws', join(base, 'by-link'))
    manager = createPathManager({ workspace: join(base, 'by-link'), output: join(base, 'ws/out'), realpath })
  })

  afterEach(() => scratch.remove())

  it('[PM2] follows links, those of missing parts and of the roots too', () => {
    const within = (path: string) => manager.isWithinWorkspace(join(base, path))
    expect(['ws', 'by-link/src/a', 'ws/not/there', 'ws/out/in/a'].map(within)).toEqual([true, true, true, true])
    expect(['ws/escape', 'ws/escape/secret', 'ws/out/dangling', 'ws/loop', 'outside'].map(within)).toEqual(
      Array.from({ length: 5 }, () => false),
    )
    expect(manager.isWithinOutput(join(base, 'ws/out/in/a'))).toBe(false)
  })

  it('[PM4, PM8] resolves to real paths, and refuses what leads out by a link', () => {
    expect(manager.resolveRead('out/in/a')).toBe(join(base, 'ws/src/a'))
    expect(manager.resolveWrite('out/new/file')).toBe(join(base, 'ws/out/new/file'))
    for (const path of ['dangling', 'in/a', 'dangling/deeper']) {
      expect(() => manager.resolveWrite(path)).toThrow(expect.objectContaining({ code: 'EACCES', path }))
    }
    expect(() => manager.resolveRead('escape/secret')).toThrow(expect.objectContaining({ code: 'EACCES' }))
  })

  it('[RU8] [PM2] judges no path for long: neither deep ones, nor ones with many `..`, nor over-long ones', () => {
    mkdirSync(join(base, 'ws/a/'.padEnd(1200, 'a/')), { recursive: true })
    const paths = [
      'a/'.repeat(600) + '../'.repeat(600) + 'x',
      'missing/'.repeat(200) + '../'.repeat(200) + 'x',
      'a/../'.repeat(700) + 'x',
      'missing/../'.repeat(300) + 'x',
      `${'a/'.repeat(590)}${'x/../'.repeat(500)}`,
      `${'a/'.repeat(1900)}x`,
      'a/'.repeat(1_000_000),
      `{workspace_path}${'/x'.repeat(2030)}`,
    ]
    for (const path of paths) {
      for (const judge of [
        () => manager.isWithinWorkspace(`${base}/ws/${path}`),
        () => manager.isWithinWorkspace(path),
        () => manager.resolveRead(path),
        () => manager.resolveWrite(path),
      ]) {
        const judgeOrRefuse = (): void => {
          try {
            judge()
          } catch (error) {
            expect(error).toMatchObject({ code: expect.stringMatching(/^(EINVAL|EACCES|ENAMETOOLONG)$/) })
          }
        }
        expect(processorTimeOf(judgeOrRefuse), path.slice(0, 40)).toBeLessThan(20)
      }
    }
    expect(manager.isWithinWorkspace(`${base}/ws/${'a/'.repeat(600)}${'../'.repeat(600)}x`)).toBe(true)
    expect(manager.isWithinWorkspace(`${base}/ws/${'a/'.repeat(100)}${'../'.repeat(102)}outside`)).toBe(false)
    expect(manager.resolveRead(`${'a/'.repeat(590)}${'../'.repeat(590)}src/a`)).toBe(join(base, 'ws/src/a'))
  })
})
