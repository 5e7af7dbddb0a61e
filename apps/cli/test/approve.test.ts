import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { onTerminal } from './terminal.ts'
import { createProject, ws } from './ws.ts'

const rules = [{ rule: 'ask', globs: ['*.pem'] }]
const files = { 'a.txt': 'one\n', 'b.txt': 'b\n', 'site.pem': 'key\n' }
const keep = 'Keep these changes?'
const allow = 'Allow what the rule refused'

async function open(executor = 'virtual') {
  const project = await createProject(files)
  const state = await createScratchDirectory({ owner: project.owner })
  const call = join(state.path, 'call.json')
  onTestFinished(async () => {
    await project.remove()
    await state.remove()
  })
  const config = join(state.path, 'config.json')
  const mounts = [{ at: '/workspace', root: project.path }]
  await writeFile(config, JSON.stringify({ mounts, rules, executors: [executor] }))
  const options = ['--config', config]
  const own = ['--state', join(state.path, 'saved')]
  return {
    on: (name: string) => readFile(join(project.path, name), 'utf8'),
    remove: (name: string) => rm(join(project.path, name)),
    ws: (...args: string[]) => ws([...options, ...args]),
    own,
    /** Writes a call of a model. @returns the arguments of `ws tool` */
    async callOf(command: string): Promise<string[]> {
      await writeFile(call, JSON.stringify({ tool: 'execute', arguments: { command } }))
      return ['tool', '--face', 'split', '--approve', ...own, call]
    },
    /** Runs `ws` on a terminal, and types an answer to each question. */
    async answering(args: readonly string[], answers: readonly (readonly [question: string, answer: string])[]) {
      const line = [...options, ...args].map((arg) => `'${arg}'`).join(' ')
      const terminal = onTerminal(line, { cols: 200, rows: 50 })
      for (const [question, answer] of answers) {
        await Promise.race([terminal.printed(question), terminal.ended])
        terminal.write(`${answer}\r`)
      }
      await terminal.ended
      return terminal.text().replaceAll('\r\n', '\n')
    },
  }
}

describe('[EF5] ws tool --approve', () => {
  it('shows what the call changed, and keeps half of it', async () => {
    const at = await open()
    const args = await at.callOf('echo two > a.txt; rm b.txt')
    const text = await at.answering(args, [[keep, 'a.txt']])
    expect(text).toMatch(
      /`execute` changed these files:\nchanged \/workspace\/a\.txt .*\ndeleted \/workspace\/b\.txt\n/u,
    )
    expect(text).toContain('-one\n+two\n')
    expect(text).toContain('kept a part of these changes')
    expect(await at.on('a.txt')).toBe('two\n')
    expect(await at.on('b.txt')).toBe('b\n')
  })

  it('allows for one call what a rule refused that asks', async () => {
    const at = await open()
    const args = await at.callOf('cp site.pem copy.txt')
    const text = await at.answering(args, [
      [allow, 'y'],
      [keep, 'y'],
    ])
    expect(text).toContain('Asked for, and refused by a rule:\n  /workspace/site.pem (rule ask(*.pem))')
    expect(await at.on('copy.txt')).toBe('key\n')
    await at.remove('copy.txt')
    const refused = await at.answering(args, [[allow, '']])
    expect(refused).toContain('did not allow this call')
    await expect(at.on('copy.txt')).rejects.toThrow('ENOENT')
  })

  it('takes the changes back at the end of the input, and asks nobody without a terminal', async () => {
    const at = await open()
    const args = await at.callOf('rm b.txt')
    expect(await at.answering(args, [[keep, '\u0004']])).toContain('took them back')
    expect(await at.on('b.txt')).toBe('b\n')
    expect(await at.ws(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining('leave out --approve') })
    expect(await at.on('b.txt')).toBe('b\n')
  })
})

describe('rules that ask', () => {
  it('[EF6] refuse commands and calls that nobody is asked about', async () => {
    const at = await open()
    const { code, stderr } = await at.ws('exec', '--', 'cat site.pem')
    expect(code).not.toBe(0)
    expect(stderr).toContain('needs the consent of a person')
    expect(await at.ws('cat', '/workspace/site.pem')).toMatchObject({ stdout: '' })
  })

  it('[EF6] are asked about by ws try, which then runs the command again', async () => {
    const at = await open()
    const args = ['try', ...at.own, '--', 'rm b.txt; cat site.pem > copy.txt']
    const text = await at.answering(args, [
      [allow, 'y'],
      [keep, 'copy.txt'],
    ])
    expect(text).toContain('/workspace/site.pem was refused by the rule ask(*.pem), which asks')
    expect(await at.on('copy.txt')).toBe('key\n')
    expect(await at.on('b.txt')).toBe('b\n')
    await at.remove('copy.txt')
    await at.answering(args, [
      [allow, 'n'],
      [keep, 'n'],
    ])
    expect(await at.on('b.txt')).toBe('b\n')
  })
})

describeWith([component('bubblewrap')], '[EF6] ws try, where a command makes a name of a rule that asks', () => {
  it('takes the name back when nobody allows it', async () => {
    const at = await open('bubblewrap')
    const args = ['try', ...at.own, '--', 'echo x > new.pem']
    const text = await at.answering(args, [
      [allow, 'n'],
      [keep, 'n'],
    ])
    expect(text).toContain('/workspace/new.pem was made, against the rule ask(*.pem)')
    await expect(at.on('new.pem')).rejects.toThrow('ENOENT')
  })
})
