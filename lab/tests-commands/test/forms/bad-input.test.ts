import { type Command, isWorkspaceError, type WorkspaceError, type Workspace } from '@ws/core'
import { component, describeWith } from '@ws/test-fixtures'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

import { openSite, type Site } from '../doors/site.ts'
import { everywhere } from './executors.ts'

const beside = mkdtempSync(join(tmpdir(), 'ws-bad-input-'))
afterAll(() => rmSync(beside, { recursive: true, force: true }))

interface Bad {
  readonly name: string
  readonly command?: unknown
  readonly options?: { readonly [Key in keyof NonNullable<Parameters<Workspace['exec']>[1]>]?: unknown }
  readonly codes: readonly string[]
  /** The text that the message must match. */
  readonly says: RegExp
}

const shells = ['/bin/no-such-shell', 'no-such-shell', '/usr/bin/python3', '/bin/false', '/usr/sbin/nologin', '/bin']
const blank = ['', ' ', '\t\n', [''], [' ', 'x']]

const inputs: readonly Bad[] = [
  ...[...shells, './file.txt', 'sh\0', beside].map((shell) => ({
    name: `a shell that does not exist or is not one: ${JSON.stringify(shell).replace(beside, '…')}`,
    options: { shell },
    codes: ['EINVAL', 'ENOEXEC'],
    says: /shell/,
  })),
  ...blank.map((command) => ({
    name: `a blank command: ${JSON.stringify(command)}`,
    command,
    codes: ['EINVAL'],
    says: /blank/,
  })),
  { name: 'an empty array', command: [], codes: ['EINVAL'], says: /empty array/ },
  { name: 'a number among the words', command: ['echo', 1], codes: ['EINVAL'], says: /element 1/ },
  { name: 'a number', command: 7, codes: ['EINVAL'], says: /number/ },
  { name: 'null', command: null, codes: ['EINVAL'], says: /null/ },
  { name: 'nothing', command: {}, codes: ['EINVAL'], says: /command is missing/ },
  { name: 'a NUL in the line', command: 'touch ran\0', codes: ['EINVAL'], says: /NUL/ },
  { name: 'a NUL in a word', command: ['touch', 'ran\0'], codes: ['EINVAL'], says: /NUL/ },
  { name: 'a NUL in the cwd', options: { cwd: 'a\0b' }, codes: ['EINVAL'], says: /NUL/ },
  { name: 'a NUL in a variable', options: { env: { A: 'a\0b' } }, codes: ['EINVAL'], says: /NUL/ },
  { name: 'a NUL in its name', options: { env: { 'A\0': 'a' } }, codes: ['EINVAL'], says: /names in `env`/ },
  { name: 'a name with =', options: { env: { 'A=B': 'a' } }, codes: ['EINVAL'], says: /names in `env`/ },
  { name: 'a cwd above the root', options: { cwd: '/../etc' }, codes: ['EOUTSIDE'], says: /root/ },
  { name: 'a cwd of this machine', options: { cwd: beside }, codes: ['ENOENT', 'EOUTSIDE'], says: /./ },
  { name: 'a cwd that is not there', options: { cwd: 'nowhere' }, codes: ['ENOENT'], says: /nowhere/ },
  { name: 'a cwd that is a file', options: { cwd: 'file.txt' }, codes: ['ENOTDIR'], says: /file\.txt/ },
  { name: 'an invalid timeout', options: { timeout: -1 }, codes: ['EINVAL'], says: /timeout/ },
  {
    name: 'a limit of more than there is',
    options: { limits: { openFiles: 1e9 } },
    codes: ['EUNENFORCEABLE'],
    says: /./,
  },
  { name: 'an invalid limit', options: { limits: { cpuSeconds: 0 } }, codes: ['EINVAL'], says: /cpuSeconds/ },
  { name: 'a limit nobody knows', options: { limits: { memory: 5 } }, codes: ['EINVAL'], says: /memory/ },
]

async function refusalOf({ workspace }: Site, { command = 'touch ran', options }: Bad): Promise<WorkspaceError> {
  const running = workspace.exec(command as Command, { login: false, ...options } as object)
  const outcome: unknown = await running.catch((error: unknown) => error)
  if (isWorkspaceError(outcome)) return outcome
  throw new Error(`it was not refused: ${JSON.stringify(outcome)}`, { cause: outcome })
}

for (const { name, root, components, create } of everywhere) {
  describeWith(components.map(component), `bad input in ${name}`, () => {
    it('each has a typed error of its own that says what to do, nothing runs, and the next command does', async () => {
      await using site = await openSite({ root, executor: create() })
      const wrong: string[] = []
      for (const bad of inputs) {
        const { code, message, remedy } = await refusalOf(site, bad)
        if (!bad.codes.includes(code))
          wrong.push(`${bad.name}: ${code} instead of ${bad.codes.join(' or ')}: ${message}`)
        if (!bad.says.test(message)) wrong.push(`${bad.name}: does not say what is wrong: ${message}`)
        if (remedy === undefined || remedy === '') wrong.push(`${bad.name}: does not say what to do: ${message}`)
        for (const told of [site.directory, site.canary])
          if (message.includes(told)) wrong.push(`${bad.name}: tells a path of this machine: ${message}`)
      }
      expect(wrong).toEqual([])
      expect(readdirSync(site.directory)).toEqual(['file.txt'])
      expect(await site.run('echo runs')).toBe('runs\n')
    })

    it('after closing, commands are refused, and what ran has ended', async () => {
      await using site = await openSite({ root, executor: create() })
      const running = await site.workspace.spawn('sleep 1000', { login: false, shell: 'bash', killGrace: 50 })
      await site.workspace.close()
      expect(await running.wait()).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
      await expect(site.workspace.exec('true')).rejects.toMatchObject({ code: 'ECLOSED', remedy: expect.any(String) })
      expect(running.kill()).toBe(false)
    })
  })
}
