import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { describe, expect, it } from 'vitest'

import { component, createScratchDirectory, itWith } from '../src/index.ts'
import { createSampleProject, oddNames, oddNamesDirectory } from '../src/sample-project.ts'

const run = promisify(execFile)

describe('createSampleProject', () => {
  it('[PC21] has every odd name, links inside and outside, and belongs to its owner', async () => {
    await using project = await createSampleProject()
    expect(await readdir(join(project.path, oddNamesDirectory))).toEqual(expect.arrayContaining([...oddNames]))
    expect(await readlink(join(project.path, 'link-outside'))).toBe(project.outside)
    expect(await readFile(project.outside, 'utf8')).toBe(project.secret)
    for (const entry of ['.', 'src/words.js', 'link-inside', 'run me.sh', join(oddNamesDirectory, oddNames[2])]) {
      expect((await lstat(join(project.path, entry))).uid, entry).toBe(project.owner.uid)
    }
  })

  it('leaves nothing behind', async () => {
    const project = await createSampleProject()
    await project[Symbol.asyncDispose]()
    expect(existsSync(project.path)).toBe(false)
    expect(existsSync(project.outside)).toBe(false)
  })

  it('fills a directory that is given, and leaves its removal to the giver', async () => {
    await using scratch = await createScratchDirectory()
    const project = await createSampleProject({ directory: scratch.path, outside: '/nonexistent/secret' })
    await project[Symbol.asyncDispose]()
    expect(existsSync(join(scratch.path, 'package.json'))).toBe(true)
    expect(await readlink(join(scratch.path, 'link-outside'))).toBe('/nonexistent/secret')
  })

  itWith(component('git'), 'is a clean git repository', async () => {
    await using project = await createSampleProject()
    expect(project.git).toBe(true)
    const asOwner = process.getuid?.() === 0 ? project.owner : {}
    const { stdout } = await run('git', ['status', '--porcelain'], { cwd: project.path, ...asOwner })
    expect(stdout).toBe('')
  })

  itWith([component('node'), component('python3')], 'runs in both languages, with the same answer', async () => {
    await using project = await createSampleProject()
    const options = { cwd: project.path, env: { PATH: '/usr/local/bin:/usr/bin:/bin', PYTHONDONTWRITEBYTECODE: '1' } }
    const [javascript, python] = await Promise.all([
      run('node', ['src/main.js'], options),
      run('python3', ['-m', 'wordcount'], options),
    ])
    expect(javascript.stdout).toBe('26\n')
    expect(python.stdout).toBe('26\n')
  })
})
