import { join } from 'node:path'

import type { Owner } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'
import { createRunner, type Model } from '@ws/runner'
import { createSampleProject } from '@ws/test-fixtures/sample-project'

import { prepareOutput } from '../config/read-plan.ts'
import { createScratch } from '../verify/scratch.ts'
import type { Teller } from './story.ts'

const plan = `
version: 1
name: the sample project
steps:
  - id: lint
    type: command
    inputs: [src]
    outputs: [lint.txt]
    with: { run: 'for file in src/*.js; do node --check $file && echo "$file is fine"; done > $OUTPUT/lint.txt' }
  - id: test
    type: command
    inputs: [package.json, src, test, vendor]
    outputs: [test.txt]
    with: { run: 'node --test --test-reporter=tap test/*.js > $OUTPUT/test.txt' }
  - id: build
    type: command
    needs: [lint, test]
    inputs: [src]
    outputs: [dist]
    with: { run: 'mkdir $OUTPUT/dist && cat src/words.js src/count.js > $OUTPUT/dist/bundle.js' }
  - id: summarise
    type: agent
    inputs: [out/lint.txt, out/test.txt, out/dist]
    outputs: [summary.md]
    with: { prompt: 'Sum up the checks in {output_path}/summary.md.' }
`

const scripted: Model = async ({ messages }) => {
  const results = messages.filter((message) => message.role === 'tool')
  const call = (name: string, given: Record<string, string>) => [{ id: `c${results.length}`, name, arguments: given }]
  const reply = { text: '', tokens: 100 }
  if (results.length === 0) return { ...reply, calls: call('read', { path: '/workspace/out/lint.txt' }) }
  if (results.length === 1) return { ...reply, calls: call('read', { path: '/workspace/out/test.txt' }) }
  const [lint, test] = results.map(({ text }) => text)
  const fine = lint?.match(/is fine/gu)?.length ?? 0
  const passed = /# pass (\d+)/u.exec(test ?? '')?.[1] ?? 'no'
  const content = `# Summary\n\n${fine} sources are fine, and ${passed} tests passed.\n`
  if (results.length === 2) return { ...reply, calls: call('write', { path: '/output/summary.md', content }) }
  return { text: 'The summary is written.', calls: [], tokens: 100 }
}

export interface RunDemoOptions extends Teller {
  readonly owner: Owner
  readonly executor: Executor
  readonly signal: AbortSignal
}

/** Runs a plan twice. In the second run, all steps are up to date. Returns true if both runs succeeded. */
export async function runDemoPlan({ owner, executor, style, say, signal }: RunDemoOptions): Promise<boolean> {
  await using project = await createSampleProject({ owner })
  await using scratch = await createScratch(owner)
  const output = join(project.path, 'out')
  prepareOutput(output, project.path)
  await using runner = await createRunner({
    workspace: project.path,
    output,
    state: join(scratch.directory, 'state'),
    executors: [executor],
    model: scripted,
    owner,
  })
  let worked = true
  for (const round of ['first', 'again']) {
    const { state, steps } = await runner.run(plan, { signal })
    const ends = Object.entries(steps)
    say(`   ${style.note(round)}  ${ends.map(([id, end]) => `${id}: ${end.state}`).join(', ')}`)
    for (const [id, end] of ends) if (end.state === 'failed') say(`          ${id}: ${end.failure?.message ?? ''}`)
    worked &&= state === 'done'
  }
  return worked
}
