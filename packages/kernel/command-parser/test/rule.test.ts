import { createMemoryAdapter } from '@ws/adapter-memory'
import { denyCommand, parseCommands } from '@ws/command-parser'
import { type AccessEvent, createWorkspace, isWorkspaceError, type Rule, rules } from '@ws/core'
import { describe, expect, it } from 'vitest'

async function refusal(
  list: readonly Rule[],
  command: Parameters<Awaited<ReturnType<typeof createWorkspace>>['exec']>[0],
  shell?: string,
) {
  await using workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
    rules: list,
  })
  const events: AccessEvent[] = []
  workspace.on('access', (event) => events.push(event))
  try {
    await workspace.exec(command, { shell })
    throw new Error('it ran')
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return { error, event: events[0] }
  }
}

// Without an executor, what the rule lets through ends in ENOEXECUTOR.
const codeOf = async (list: readonly Rule[], command: Parameters<typeof refusal>[1], shell?: string) =>
  (await refusal(list, command, shell)).error.code

describe('denyCommand', () => {
  const noRm = [denyCommand(['rm', 'shred'], { remedy: 'move it to /trash' })]

  it('[LS6] sees one command, in whichever form it came', async () => {
    const forms = ['rm -rf /', ['rm', '-rf', '/'], { command: 'rm -rf /' }, { command: ['rm', '-rf', '/'] }] as const
    for (const form of forms) expect(await codeOf(noRm, form)).toBe('EACCES')
    const { error, event } = await refusal(noRm, { 'command.0': 'rm', 'command.1': '-rf', 'command.2': '/' })
    expect(error.code).toBe('EACCES')
    expect(event).toMatchObject({ command: 'rm -rf /', door: 'exec', outcome: 'denied', rule: 'denyCommand(rm shred)' })
    expect(await codeOf(noRm, { 'command.1': 'sh', 'command.2': '-c', 'command.3': 'ls; rm x' })).toBe('EACCES')
    expect(await codeOf(noRm, ['echo', 'rm -rf /'])).toBe('ENOEXECUTOR')
    expect(await codeOf(noRm, 'ls')).toBe('ENOEXECUTOR')
  })

  it('refuses with the rule, the reason and the remedy', async () => {
    const { error } = await refusal(noRm, 'ls && sudo rm x')
    expect(error).toMatchObject({ code: 'EACCES', rule: 'denyCommand(rm shred)', remedy: 'move it to /trash' })
    expect(error.message).toContain('`rm` is not allowed')
  })

  it('fails closed: where the parser gives up, where a program is not known, where a rule throws', async () => {
    expect((await refusal(noRm, 'ls "x')).error.message).toMatch(/EACCES.*cannot be read.*unterminated/s)
    expect((await refusal(noRm, '$tool x')).error.message).toMatch(/EACCES.*not known/s)
    expect(await codeOf(noRm, 'ls', '/usr/bin/fish')).toBe('EACCES')
    const broken = denyCommand(
      () => {
        throw new Error('no')
      },
      { name: 'broken' },
    )
    expect(await codeOf([broken], 'ls')).toBe('EACCES')
  })

  it('takes a function that sees arguments', async () => {
    const noForce = denyCommand(
      ({ program, arguments: words }) =>
        program !== 'git' ||
        !words.includes('push') ||
        !words.some((word) => word === undefined || word.startsWith('--force'))
          ? true
          : { reason: 'a push may not be forced', remedy: 'push without --force' },
      { name: 'no-force' },
    )
    expect((await refusal([noForce], 'cd x && git push --force-with-lease')).error).toMatchObject({
      rule: 'no-force',
      remedy: 'push without --force',
    })
    expect(await codeOf([noForce], 'git push "$x"')).toBe('EACCES')
    expect(await codeOf([noForce], 'git push')).toBe('ENOEXECUTOR')
  })

  it('refuses a value that is not a rule', () => {
    expect(() => rules.denyCommand([], { parser: parseCommands })).toThrow(/EINVAL/)
    expect(() => rules.denyCommand(['/bin/rm'], { parser: parseCommands })).toThrow(/without a directory/)
    expect(() => rules.denyCommand(['rm'], {} as { parser: typeof parseCommands })).toThrow(/parser/)
  })
})

describe('dotted commands', () => {
  const line = async (command: unknown) => {
    const { error, event } = await refusal([], command as string)
    return error.code === 'ENOEXECUTOR' ? event?.command : error.reason
  }

  it('[LS5] `command` wins over `command.N`', async () => {
    expect(await line({ command: 'ls', 'command.0': 'rm' })).toBe('ls')
    expect(await line({ command: ['ls', 'a b'], 'command.0': 'rm' })).toBe("ls 'a b'")
  })

  it('[LS5] words count from zero, else from one, up to a gap', async () => {
    expect(await line({ 'command.0': 'ls', 'command.1': '-l', 'command.3': 'x' })).toBe('ls -l')
    expect(await line({ 'command.1': 'ls', 'command.2': '-l', 'command.4': 'x' })).toBe('ls -l')
    expect(await line({ 'command.0': 'ls', 'command.2': 'x' })).toBe('ls')
    expect(await line({ 'command.10': 'k', 'command.0': 'a', note: 1 })).toBe('a')
  })

  it('[LS5] each mistake has an error of its own', async () => {
    const missing = await line({ 'command.2': 'ls' })
    const reasons = [
      missing,
      await line({ 'command.0': 'ls', 'command.1': 3 }),
      await line({ command: [] }),
      await line({ 'command.0': ' ' }),
    ]
    expect(new Set(reasons).size).toBe(4)
    expect(missing).toMatch(/command is missing/)
    expect(await line({})).toBe(missing)
    expect(await line(Object.create({ command: 'ls' }))).toBe(missing)
    expect(reasons[1]).toMatch(/element 1 .*not a string/)
    expect(reasons[2]).toMatch(/empty array/)
    expect(reasons[3]).toMatch(/blank/)
    expect(await line({ command: 7 })).toMatch(/string or an array/)
  })
})
