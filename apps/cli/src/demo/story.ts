import { createWorkspace, isWorkspaceError, rules, type CommandResult, type Workspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createCheckpoints } from '@ws/snapshots'
import { createTools } from '@ws/tools'

import { escapeName } from '../terminal/escape.ts'
import type { Style } from '../terminal/style.ts'
import { wrapWords } from '../terminal/wrap.ts'
import { skillsPath, type DemoProject } from './project.ts'

export interface Teller {
  readonly style: Style
  readonly say: (line: string) => void
}

export interface StoryTeller extends Teller {
  readonly title: (text: string) => void
}

/** A step by the file API or the shell. Resolves to a text for display. */
type DemoStep = readonly [door: 'files' | 'shell', shown: string, run: (workspace: Workspace) => Promise<string>]

const file = (shown: string, run: DemoStep[2]): DemoStep => ['files', shown, run]
const shell = (command: string): DemoStep => [
  'shell',
  `$ ${command}`,
  async (workspace) => resultText(await workspace.exec(command, { timeout: 20_000 })),
]

const script = 'import os\nprint("hello from", os.getcwd(), "with", len(os.listdir("/src")), "sources")\n'
const read = (path: string): DemoStep => file(`read ${path}`, (workspace) => workspace.readText(path))
const write = (path: string, content: string): DemoStep =>
  file(`write ${path}`, async (workspace) => `${(await workspace.write(path, content)).size} bytes`)

const withPrograms: readonly DemoStep[] = [
  write('/hello.py', script),
  shell('python3 /hello.py'),
  shell('node src/main.js | tee /count.txt'),
  read('/count.txt'),
]

/** Steps for an interpreter, without programs of this machine. */
const withoutPrograms: readonly DemoStep[] = [
  write('/hello.txt', 'hello\n'),
  shell('cat /hello.txt; ls /src'),
  shell('cat docs/*|wc -w|tee /count.txt'),
  read('/count.txt'),
]

const forbidden: readonly DemoStep[] = [
  shell('cat /notes/empty.txt'),
  shell(`echo mine > ${skillsPath}/SKILL.md`),
  write(`${skillsPath}/SKILL.md`, 'mine'),
  read('/link-outside'),
]

const breaking = shell('rm src/count.js; echo oops > src/words.js')
const lookAgain = shell('cat src/*.js | wc -l')

const calls = [
  { operation: 'read', path: '/notes/empty.txt' },
  { operation: 'read', pth: '/src/words.js' },
  'next',
] as const

/** Runs steps by the file API and the shell, some against rules. Returns true if each step ended as expected. */
export async function tellStory(project: DemoProject, executor: Executor, teller: StoryTeller): Promise<boolean> {
  await using workspace = await createWorkspace({
    mounts: [
      { at: '/', adapter: project.openProject },
      { at: skillsPath, adapter: project.openSkills, access: 'read-only' },
    ],
    rules: [rules.deny('/notes')],
    executors: [executor],
    checkpoints: createCheckpoints({ stateDirectory: project.stateDirectory }),
  })
  teller.title(`1. Files and commands see the same tree (commands run in ${executor.name})`)
  const worked = await take(workspace, executor.kind === 'process' ? withPrograms : withoutPrograms, teller)
  teller.title('2. Rules hold at both doors: /notes is denied, skills are read-only')
  const stopped = await take(workspace, forbidden, teller)
  const isModelFine = await callTools(workspace, teller)
  teller.title('3. A command breaks the project, and is taken back')
  const isBack = await breakAndRestore(workspace, teller)
  return worked.every((one) => one) && stopped.every((one) => !one) && isModelFine && isBack
}

/** Lets a command break the project, and restores the project. Returns true if both succeeded. */
async function breakAndRestore(workspace: Workspace, teller: Teller): Promise<boolean> {
  const { id } = await workspace.checkpoint({ label: 'before the command' })
  const [isBroken] = await take(workspace, [breaking], teller)
  const changes = file('changes', async () => {
    const found = await workspace.changes({ since: id })
    return found.map(({ kind, path }) => `${kind} ${path}`).join(', ')
  })
  const restore = file('restore', async () => {
    const { kept } = await workspace.restore(id)
    return kept.length === 0 ? 'all is as it was' : `left alone: ${kept.map(({ path }) => path).join(', ')}`
  })
  const [, , works] = await take(workspace, [changes, restore, lookAgain], teller)
  return isBroken === true && works === true && (await workspace.changes({ since: id })).length === 0
}

async function take(workspace: Workspace, steps: readonly DemoStep[], { style, say }: Teller): Promise<boolean[]> {
  const ends: boolean[] = []
  for (const [door, shown, run] of steps) {
    const { isDone, text } = await run(workspace).then(
      (result) => ({ isDone: true, text: result }),
      (error: unknown) => {
        if (error instanceof Failed) return { isDone: false, text: error.message }
        if (!isWorkspaceError(error)) throw error
        return { isDone: false, text: `${error.code}: ${error.reason}` }
      },
    )
    const line = escapeName(text.trim().replaceAll(/\s+/gu, ' '))
    const label = door === 'files' ? style.strong(door) : style.note(door)
    const outcome = isDone ? style.good(line) : style.bad(line)
    const isWide = shown.length > commandWidth || line.length > style.width - commandWidth - 11
    say(`   ${label}  ${isWide ? shown : `${shown.padEnd(commandWidth)} ${outcome}`}`)
    if (isWide && line !== '') say(`          ${outcome}`)
    ends.push(isDone)
  }
  return ends
}

/** The width of a command, before its outcome. */
const commandWidth = 36

/** Calls tools as a model would, and shows the answers. */
async function callTools(workspace: Workspace, { style, say }: Teller): Promise<boolean> {
  await using toolset = createTools(workspace, { downloads: false })
  let last: Awaited<ReturnType<typeof toolset.run>> | undefined
  const errors: boolean[] = []
  for (const call of calls) {
    const next = call === 'next' ? last?.next : { tool: 'file_system', arguments: call }
    if (next === undefined) return false
    last = await toolset.run(next.tool, next.arguments)
    errors.push(last.isError === true)
    say(`   ${style.strong('model')}  ${next.tool} ${JSON.stringify(next.arguments)}`)
    const lines = last.text.replaceAll('\t', ' ').split('\n')
    const shown = last.isError ? lines : [`${lines[0]} …`]
    for (const line of shown.flatMap((text) => wrapWords(escapeName(text), style.width - 12).split('\n'))) {
      say(`          ${style.dim(`| ${line}`)}`)
    }
  }
  return errors.join() === 'true,true,false'
}

class Failed extends Error {}

function resultText({ stdout, stderr, exitCode }: CommandResult): string {
  if (exitCode === 0) return stdout
  // shells put the path in different places; only the error matters
  const fault = stderr
    .trim()
    .split(': ')
    .findLast((part) => !part.startsWith('/'))
  throw new Failed(`${fault ?? ''} (exit ${exitCode})`)
}
