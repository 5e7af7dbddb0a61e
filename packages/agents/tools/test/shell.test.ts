import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, WorkspaceError } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createTools, type Tool } from '@ws/tools'
import { describe, expect, it, onTestFinished } from 'vitest'

import { done, refused } from './support/calls.ts'

const faces = [
  ['file_system', 'execute'],
  ['split', 'execute'],
  ['claude-code', 'Bash'],
  ['anthropic', 'bash'],
  ['openai', 'shell'],
] as const

async function open(face: (typeof faces)[number][0] = 'file_system', shell: 'session' | 'command' = 'session') {
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createMemoryAdapter({ files: { '/src/a.ts': 'a' } }) }],
    executors: [createVirtualExecutor()],
    rules: [rules.deny('secret')],
  })
  const toolset = createTools(workspace, { face, shell })
  onTestFinished(async () => {
    await toolset.close()
    await workspace.close()
  })
  const run = async (command: string, more: object = {}): Promise<string> =>
    (await done(toolset, 'execute', { command, ...more })).text
  return { workspace, toolset, run }
}

const given = (name: string, command: string) => (name === 'shell' ? { commands: [command] } : { command })
const schemas = ({ inputSchema }: Tool): string => JSON.stringify(inputSchema)

describe('a shell that keeps its state', () => {
  for (const [face, name] of faces) {
    it(`[LS13] is the next command's in the face ${face}, whose words say so`, async () => {
      const { toolset } = await open(face)
      const tool = toolset.tools.find((one) => one.name === name)
      expect(tool?.description).toContain('stay for the next command')
      expect(tool?.description).not.toMatch(/at the root of the workspace|starts anew/u)
      await done(toolset, name, given(name, 'cd src; x=1; export y=2; f() { echo "$x$y"; }; a=(5 6)'))
      const { text } = await done(toolset, name, given(name, 'pwd; f; echo ${a[1]}'))
      expect(text.replaceAll('\\n', '\n')).toContain('/workspace/src\n12\n6')
    })

    it(`[LS13] is not kept without the option in the face ${face}`, async () => {
      const { toolset } = await open(face, 'command')
      const session = await open(face)
      const tool = toolset.tools.find((one) => one.name === name)
      const other = session.toolset.tools.find((one) => one.name === name)
      expect(tool?.description).not.toContain('stay for')
      if (tool && face !== 'anthropic') expect(schemas(tool)).not.toContain('restart')
      if (tool && other && name === 'execute') expect(schemas(other)).toContain('where the last command ended')
      await done(toolset, name, given(name, 'cd src; x=1'))
      expect((await done(toolset, name, given(name, 'pwd; echo "x$x"'))).text).toMatch(/\/workspace(?:\\n|\n)x\b(?!1)/u)
    })
  }

  it('[LS13] stays after a failure, `exit` and a wrong line', async () => {
    const { run } = await open()
    await run('set -e; x=1; cd src; false; x=2')
    expect(await run('echo $x $-')).toMatch(/1 \w*e/u)
    await run('set +e; x=3; exit 4')
    await run('if then')
    expect(await run('echo $x; pwd')).toContain('3\n/workspace/src')
  })

  it('[LS13] belongs to one toolset, and `restart` begins a new one', async () => {
    const { workspace, toolset, run } = await open()
    await run('x=1; cd src')
    await using second = createTools(workspace, { shell: 'session' })
    expect((await done(second, 'execute', { command: 'echo "x$x"; pwd' })).text).toContain('x\n/workspace')
    expect((await done(toolset, 'execute', { restart: true })).text).toBe('The shell is new, and in /workspace.')
    expect(await run('echo "x$x"; pwd')).toContain('x\n/workspace')
    const { toolset: anthropic } = await open('anthropic')
    await done(anthropic, 'bash', { command: 'x=1; cd src' })
    await done(anthropic, 'bash', { restart: true })
    expect((await done(anthropic, 'bash', { command: 'echo "x$x"; pwd' })).text).toContain('x\n/workspace')
  })

  it('[LS13] goes to `cwd` first, and stays there', async () => {
    const { run, toolset } = await open()
    expect(await run('pwd', { cwd: 'src' })).toContain('/workspace/src')
    expect(await run('pwd')).toContain('/workspace/src')
    expect(await run('pwd', { cwd: '.' })).toMatch(/\n\/workspace$/u)
    await refused(toolset, 'execute', { command: 'pwd', cwd: 'nowhere' })
    expect(await run('pwd')).toMatch(/\n\/workspace$/u)
  })

  it('[LS13] says so where it goes on at the end of a link', async () => {
    const { run } = await open()
    const text = await run('ln -s src l; mkdir src/in; cd l/in')
    expect(text).toContain('Note: links are not kept: the shell is in /workspace/src/in, and was in /workspace/l/in.')
    expect(await run('pwd; cd ..; pwd')).toBe('Exit code 0.\n/workspace/src/in\n/workspace/src')
    expect(await run('cd ../l')).toContain('the shell is in /workspace/src, ')
  })

  it('[LS13] that lost its directory runs nothing once, and goes on at the root', async () => {
    const { workspace, toolset, run } = await open()
    await run('mkdir gone; cd gone; x=1')
    await workspace.delete('gone', { recursive: true })
    const { text } = await refused(toolset, 'execute', { command: 'touch /workspace/ran' })
    expect(text).toContain("The shell's directory /workspace/gone is gone, or may not be entered. Nothing was run")
    expect(await workspace.exists('ran')).toBe(false)
    expect(await run('echo $x; pwd')).toContain('1\n/workspace')
    expect(await run('mkdir d; cd d; rmdir ../d')).toContain('the next command starts in /workspace')
    expect(await run('pwd')).toMatch(/\n\/workspace$/u)
  })

  it('[LS13] is as before a command that was ended, and after a state that is too large', async () => {
    const { run } = await open()
    await run('x=1; cd src')
    const ended = await run('x=2; cd /; sleep 60', { timeout: 200 })
    expect(ended).toContain('its directory and variables are as before this command')
    expect(await run('echo $x; pwd')).toContain('1\n/workspace/src')
    expect(await run('x=3; cd /workspace; y=$(printf %300000s)')).toContain('they are too large, or cannot be read')
    expect(await run('echo $x; pwd')).toMatch(/1\n\/workspace$/u)
  })

  it('[LS13] runs calls that come at once one after another, and gives its state to a command in the background', async () => {
    const { toolset, run } = await open()
    await Promise.all(Array.from({ length: 5 }, (_, index) => run(`x="${'$'}{x}${index}"`)))
    expect(await run('echo $x')).toContain('01234')
    await run('cd src')
    const { data } = await done(toolset, 'execute', { command: 'pwd; echo $x; x=9; cd /', background: true })
    const id = data?.['id']
    await toolset.run('execute', { command: 'true' })
    const shown: string[] = []
    while (!/Exit code/u.test(shown.at(-1) ?? '')) shown.push((await done(toolset, 'execute', { id })).text)
    expect(shown.join('\n')).toContain('/workspace/src\n01234')
    expect(await run('echo $x; pwd')).toContain('01234\n/workspace/src')
  })

  it.each(['missing', 'no program'])('[LS13] is sh where bash is %s', async (how) => {
    const virtual = createVirtualExecutor()
    const commands: string[] = []
    const executor: Executor = {
      ...virtual,
      async attach(view) {
        const attached = await virtual.attach(view)
        return {
          ...attached,
          async spawn(request, plan) {
            commands.push(`${request.shell} ${request.command}`)
            if (request.shell !== 'bash') return attached.spawn(request, plan)
            const reason = 'the shell `bash` is missing or not executable'
            if (how === 'missing') throw new WorkspaceError({ code: 'ENOEXEC', operation: 'exec', reason })
            return attached.spawn({ ...request, command: 'exit 127', shellState: undefined }, plan)
          },
        }
      },
    }
    const workspace = await createWorkspace({
      mounts: [{ at: '/workspace', adapter: () => createMemoryAdapter() }],
      executors: [executor],
    })
    onTestFinished(() => workspace.close())
    await using toolset = createTools(workspace, { shell: 'session' })
    await done(toolset, 'execute', { command: 'x=1' })
    expect((await done(toolset, 'execute', { command: 'echo "x$x"' })).text).toContain('x1')
    expect(commands.filter((one) => one.startsWith('sh'))).toEqual(['sh x=1', 'sh echo "x$x"'])
  })

  it('[RU5] is not for a command that acknowledges a rule', async () => {
    const { workspace } = await open()
    await expect(workspace.exec('true', { shellState: '', acknowledge: ['secret'] })).rejects.toMatchObject({
      code: 'EINVAL',
    })
  })

  it('[FS1] has next calls that name the root in the face openai', async () => {
    const { toolset } = await open('openai')
    await done(toolset, 'shell', { commands: ['cd src'] })
    const { next } = await refused(toolset, 'apply_patch', {
      type: 'update_file',
      path: 'src/a.ts',
      diff: '@@\n-nothing\n+b\n',
    })
    const { commands } = (next?.arguments ?? {}) as { readonly commands: readonly string[] }
    expect((await done(toolset, 'shell', { commands })).text).toContain('1\\ta')
  })
})
