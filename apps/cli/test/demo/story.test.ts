/** @module-tag all */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import type { Executor } from '@ws/core/executor'
import { component, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { createProject } from '../../src/demo/project.ts'
import { tellStory } from '../../src/demo/story.ts'
import { createStyle } from '../../src/terminal/style.ts'
import { compileCache, end } from '../ws.ts'

async function story(executor: Executor): Promise<{ readonly worked: boolean; readonly lines: readonly string[] }> {
  await using project = await createProject(ordinaryOwner())
  const lines: string[] = []
  const say = (line: string): void => void lines.push(...line.split('\n'))
  const style = { ...createStyle(process.stdout, { NO_COLOR: '1' }), width: 80 }
  const worked = await tellStory(project, executor, { style, say, title: say })
  return { worked, lines }
}

it('the story shows both doors, the rules at both, and the words that a model reads, on an interpreter', async () => {
  const { worked, lines } = await story(createVirtualExecutor())
  const text = lines.join('\n')
  expect(worked, text).toBe(true)
  expect(text).toMatch(/files {2}read \/count\.txt +26$/mu)
  expect(text).toMatch(/EROFS|EACCES/u)
  expect(text).toMatch(/\| .*is denied/u)
  expect(text).toContain('"path":"/src/words.js"')
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  expect(lines.length).toBeLessThan(32)
})

describeWith(component('bubblewrap'), 'the story in bubblewrap', () => {
  it('runs programs of this machine', async () => {
    const { worked, lines } = await story(createBubblewrapExecutor())
    expect(worked, lines.join('\n')).toBe(true)
    const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8')
    const shown = /```console\n\$ npm run demo\n(.*?)```/su.exec(readme)?.[1]?.trimEnd().split('\n')
    expect(lines.map((line) => line.trim())).toEqual(expect.arrayContaining(shown?.map((line) => line.trim()) ?? ['']))
    expect(lines.join('\n')).toMatch(/python3 \/hello\.py +hello from \/ with 5 sources$/mu)
  })
})

const demo = fileURLToPath(new URL('../../src/demo.ts', import.meta.url))

async function runDemo(...wrapper: readonly string[]): Promise<string> {
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    NO_COLOR: '1',
    NODE_COMPILE_CACHE: compileCache,
  }
  const [program, ...args] = [...wrapper, process.execPath, '--conditions=@ws/source', demo]
  const ended = await end(spawn(program, args, { env }))
  const lines = ended.stdout.trim().split('\n')
  expect(ended, ended.stdout).toMatchObject({ code: 0, stderr: '' })
  expect(lines.length).toBeLessThanOrEqual(48)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  return ended.stdout
}

describeWith(component('bubblewrap'), 'the demo', { tags: 'deep' }, () => {
  it('is two screens, with a plan and this machine', async () => {
    const text = await runDemo()
    expect(text).toMatch(/first {2}lint: done, test: done, build: done, summarise: done/u)
    expect(text).toMatch(/^ {3}bubblewrap /mu)
    expect(text).toContain('Try next')
  })

  it('shows without system packages what works, and says in one line how to see the rest', async () => {
    const hidden = ['/usr/bin', '/usr/sbin', '/usr/local/bin'].flatMap((path) => ['--tmpfs', path])
    const text = await runDemo('bwrap', '--dev-bind', '/', '/', ...hidden)
    expect(text).toContain('commands run in virtual')
    expect(text.match(/To see the rest: npm run setup:system/gu)).toHaveLength(1)
  })
})
