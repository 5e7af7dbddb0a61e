import { renderReport } from '@ws/runner'
import { parse, type DefaultTreeAdapterTypes } from 'parse5'
import { expect, it } from 'vitest'

import { createSite, testTypes } from './support.ts'

type Node = DefaultTreeAdapterTypes.Node

function* walk(node: Node): Generator<Node> {
  yield node
  if ('childNodes' in node) for (const child of node.childNodes) yield* walk(child)
}

const textOf = (node: Node): string => [...walk(node)].map((one) => ('value' in one ? one.value : '')).join('')

it('is one page with graph, times, logs, decisions and changes, in which nothing of a step is markup', async () => {
  await using site = await createSite({ files: { 'workspace/a': 'x' } })
  const hostile = '<script>alert(1)</script>"\'&\u0000\u202e'
  const types = {
    ...testTypes,
    speak: {
      ...testTypes['nothing'],
      async run(_: unknown, context: { log(text: string): void; write(path: string, data: string): Promise<void> }) {
        context.log(`${hostile}\n`)
        await context.write('said.txt', `${hostile.replace('\u0000', '')}\n`)
        return undefined
      },
    },
  }
  const runner = await site.runner({ types: types as never })
  const plan = {
    version: 1,
    name: hostile,
    onFailure: 'continue',
    steps: [
      { id: 'speak', type: 'speak', outputs: ['said.txt'] },
      { id: 'after', type: 'copy', inputs: ['out/said.txt'], outputs: ['b'], with: { from: 'out/said.txt', to: 'b' } },
      { id: 'bad', type: 'fail', with: { message: hostile } },
    ],
  }
  await runner.run(plan)
  const checked = await runner.check({ ...plan, steps: plan.steps })
  const history = await runner.history()
  if (checked.plan === undefined || history === undefined) throw new Error('the plan has faults')
  const errors: string[] = []
  const page = parse(renderReport(checked.plan, history), { onParseError: ({ code }) => errors.push(code) })
  const nodes = [...walk(page)]
  const names = nodes.map(({ nodeName }) => nodeName)
  expect(errors).toEqual([])
  expect(names).not.toContain('script')
  expect(names.filter((name) => name === 'section')).toHaveLength(3)
  expect(names.filter((name) => name === 'g')).toHaveLength(3)
  expect(names.filter((name) => name === 'path')).toHaveLength(1)
  const text = textOf(page)
  for (const part of ['attempt 1', '+<script>alert(1)</script>', '/output/said.txt', 'after speak'])
    expect(text).toContain(part)
  for (const acting of ['\0', '\u202e']) expect(text).not.toContain(acting)
  expect(
    nodes.flatMap((node) => ('attrs' in node ? node.attrs : [])).filter(({ name }) => /^on|href|src$/u.test(name)),
  ).toEqual([])
})
