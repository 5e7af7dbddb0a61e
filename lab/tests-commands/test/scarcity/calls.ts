import { isWorkspaceError, type Workspace } from '@ws/core'
import { createTools, type ToolAnswer } from '@ws/tools'

/** One use of a workspace, as a caller makes it. */
export interface Call {
  readonly name: string
  /** It answers or rejects, and leaves nothing open. */
  run(workspace: Workspace): Promise<unknown>
}

/** Every operation of the file API once, on entries that {@link prepareFiles} made. */
export const fileCalls: readonly Call[] = [
  { name: 'read', run: (workspace) => workspace.read('kept/file.txt') },
  { name: 'readText', run: (workspace) => workspace.readText('kept/file.txt') },
  { name: 'readLines', run: (workspace) => workspace.readLines('kept/file.txt') },
  {
    name: 'readStream',
    async run(workspace) {
      const { stream } = await workspace.readStream('kept/file.txt')
      for await (const _ of stream);
    },
  },
  { name: 'stat', run: (workspace) => workspace.stat('kept/file.txt') },
  { name: 'write', run: (workspace) => workspace.write('made/new.txt', 'new', { parents: true }) },
  { name: 'overwrite', run: (workspace) => workspace.write('kept/again.txt', 'again') },
  { name: 'append', run: (workspace) => workspace.append('kept/again.txt', 'more') },
  { name: 'through a link', run: (workspace) => workspace.readText('kept/link') },
  { name: 'list', run: (workspace) => drain(workspace.list('.', { recursive: true })) },
  { name: 'search', run: (workspace) => drain(workspace.search('needle', { in: 'kept' })) },
  { name: 'copy', run: (workspace) => workspace.copy('kept', 'copied', { recursive: true, overwrite: true }) },
  { name: 'move', run: (workspace) => workspace.move('copied', 'moved', { overwrite: true }) },
  { name: 'delete', run: (workspace) => workspace.delete('moved', { recursive: true, force: true }) },
  { name: 'scratch', run: (workspace) => workspace.write('/tmp/scratch.txt', 'scratch') },
]

/** Every way to start a command. */
export const commandCalls: readonly Call[] = [
  { name: 'exec', run: (workspace) => expectHello(workspace.exec('echo hello', { login: false })) },
  { name: 'exec with input', run: (workspace) => expectHello(workspace.exec('cat', { stdin: 'hello\n' })) },
  {
    name: 'spawn',
    async run(workspace) {
      const running = await workspace.spawn('echo hello; echo hello >&2')
      let text = ''
      for await (const chunk of running.stdout) text += Buffer.from(chunk).toString()
      await expectHello(running.wait().then((result) => ({ ...result, stdout: text })))
    },
  },
]

/** A terminal; the virtual executor has none. */
export const sessionCalls: readonly Call[] = [
  {
    name: 'session',
    async run(workspace) {
      await using session = await workspace.openSession({ command: 'echo hello', login: false })
      await session.wait()
      const { text } = session.read()
      if (!text.includes('hello')) throw new Error(`a session without its output: ${JSON.stringify(text)}`)
    },
  },
]

/** A tool never throws: its answer names the code. */
class AnswerError extends Error {
  readonly code: string

  constructor({ text, data }: ToolAnswer) {
    super(text)
    this.code = typeof data?.['code'] === 'string' ? data['code'] : ''
  }
}

function toolCall(name: string, tool: string, ...inputs: readonly object[]): Call {
  return {
    name: `tool: ${name}`,
    async run(workspace) {
      await using toolset = createTools(workspace)
      for (const input of inputs) {
        const answer = await toolset.run(tool, input)
        if (answer.isError) throw new AnswerError(answer)
      }
    },
  }
}

const path = 'made/by-tool.txt'

/** The operations that work in their own ways on files. */
export const toolCalls: readonly Call[] = [
  toolCall(
    'write and replace',
    'file_system',
    { operation: 'write', path, content: 'text' },
    { operation: 'replace', path, old: 'text', new: 'words' },
  ),
  toolCall('read', 'file_system', { operation: 'read', path: 'kept/file.txt' }),
  toolCall('search', 'file_system', { operation: 'search', pattern: 'needle' }),
]

/** A tool that runs a command. */
export const commandToolCalls: readonly Call[] = [toolCall('execute', 'execute', { command: 'echo hello' })]

async function expectHello(running: Promise<{ exitCode: number | null; stdout: string; stderr: string }>) {
  const { exitCode, stdout, stderr } = await running
  // Inside, the shell may itself run short: it says so, and does not end with 0.
  if (exitCode === 0 && stdout !== 'hello\n') throw new Error(`success with a wrong answer: ${stdout}${stderr}`)
}

async function drain(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const _ of items) count += 1
  return count
}

export async function prepareFiles(workspace: Workspace): Promise<void> {
  await workspace.write('kept/file.txt', 'a needle\n', { parents: true })
  await workspace.write('kept/again.txt', 'again')
  await workspace.createSymlink('kept/link', 'file.txt')
  for (let i = 0; i < 5; i++) await workspace.write(`kept/deep/${i}/f.txt`, 'needle', { parents: true })
}

/** `done`, the code of a typed error that says what to do, or what is wrong with the answer. */
export async function outcomeOf({ run }: Call, workspace: Workspace): Promise<string> {
  try {
    await run(workspace)
    return 'done'
  } catch (error) {
    if (isWorkspaceError(error) && error.remedy !== undefined) return error.code
    if (error instanceof AnswerError && error.code !== '') return error.code
    return `FAULT ${error instanceof Error ? error.stack : String(error)}`
  }
}
