import { createWorkspace, rules } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createTools, type FaceName, type ToolAnswer } from '@ws/tools'

import type { Style } from '../terminal/style.ts'
import type { DemoProject } from './project.ts'
import { renderLine } from './steps.ts'

/** One call of the model. `next`: it makes the call that the error before it offers. */
type Turn = readonly [tool: string, given: Readonly<Record<string, unknown>>, end: 'done' | 'refused'] | 'next'

const patch = `*** Begin Patch
*** Update File: /src/words.js
@@
-/** Splits at white space and counts; \`normalise\` may drop a word by making it empty. */
+/** Counts the words of a text; \`normalise\` may drop a word by making it empty. */
*** End Patch`

/** A model that follows a script, in three forms of the tools, over the same files, rules and errors. */
const script: readonly (readonly [FaceName, readonly Turn[]])[] = [
  [
    'file_system',
    [
      ['file_system', { operation: 'search', pattern: 'Splits', path: '/src' }, 'done'],
      ['file_system', { operation: 'read', pth: '/src/words.js' }, 'refused'],
      'next',
      ['file_system', { operation: 'replace', path: '/README.md', old: '# wordcount', new: '# Wordcount' }, 'done'],
      ['file_system', { operation: 'read', path: '/notes/empty.txt' }, 'refused'],
    ],
  ],
  [
    'claude-code',
    [
      ['Write', { file_path: '/README.md', content: '# Words\n' }, 'refused'],
      'next',
      ['Edit', { file_path: '/README.md', old_string: 'A small project', new_string: 'A project' }, 'done'],
      ['Bash', { command: 'head -n 1 README.md' }, 'done'],
    ],
  ],
  [
    'openai',
    [
      ['apply_patch', { input: patch }, 'done'],
      ['shell', { commands: ['grep -c "Counts the words" src/words.js'] }, 'done'],
    ],
  ],
]

export interface ShowFacesOptions {
  readonly executor: Executor
  readonly style: Style
  readonly say: (line: string) => void
}

/** Shows a model at work through three faces on one workspace. True when each call ended as the script says. */
export async function showFaces(project: DemoProject, { executor, style, say }: ShowFacesOptions): Promise<boolean> {
  await using workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: project.openProject }],
    rules: [rules.deny('/notes')],
    executors: [executor],
  })
  let asExpected = true
  for (const [face, turns] of script) {
    await using toolset = createTools(workspace, { face, downloads: false })
    let last: ToolAnswer | undefined
    for (const turn of turns) {
      const next = turn === 'next' ? last?.next : { tool: turn[0], arguments: turn[1] }
      if (next === undefined) return false
      last = await toolset.run(next.tool, next.arguments)
      const mark = last.isError ? style.note('model ') : style.strong('model ')
      say(renderLine(mark, `${next.tool} ${JSON.stringify(next.arguments)}`, last.text, style))
      asExpected &&= last.isError === (turn !== 'next' && turn[2] === 'refused')
    }
    const changes = toolset.journal().map(({ change, path }) => `${change} ${path}`)
    say(style.dim(`         ${face} changed: ${changes.join(', ') || 'nothing'}`))
  }
  return asExpected
}
