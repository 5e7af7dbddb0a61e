import { rounds, seededRandom } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { drawChange, linesOf, type Model, modelOfDirectory, modelOfWorkspace } from './model.ts'
import { openSite } from './support.ts'

const forms = [
  ['bytes and an attendant', {}],
  ['strings and an attendant', { isText: true }],
  ['strings, each command by itself', { isText: true, hasInput: false }],
] as const

it.each(forms)(
  'both sides are the same tree after any changes of both, over %s',
  { tags: ['all', 'rounds'], timeout: 600_000 },
  async (_title, form) => {
    const { workspace, root } = await openSite(form)
    const model: Model = new Map()
    for (const round of rounds({ quick: 15, seconds: 300, most: 500 })) {
      const random = seededRandom(round)
      const log: string[] = []
      for (let count = Math.floor(random() * 4); count > 0; count -= 1) {
        const change = drawChange(model, random)
        log.push(`file API: ${change.command(root)}`)
        await change.call(workspace, root)
        change.apply(model)
      }
      const commands: string[] = ['cd /']
      for (let count = Math.floor(random() * 4); count > 0; count -= 1) {
        const change = drawChange(model, random)
        commands.push(change.command(root))
        change.apply(model)
      }
      const { stderr } = await workspace.exec(commands.join('\n'))
      const said = `round ${round}: ${log.join('; ').slice(0, 3000)} ⏎ ${commands.join('; ').slice(0, 3000)}`
      expect(stderr, said).toBe('')
      expect(linesOf(await modelOfWorkspace(workspace, root)), said).toEqual(linesOf(model))
      expect(linesOf(await modelOfDirectory(root)), said).toEqual(linesOf(model))
      if (model.size > 60) {
        await workspace.exec('find . -mindepth 1 -delete')
        model.clear()
      }
    }
  },
)

it('loses nothing that either side wrote while a command ran', {
  tags: ['all', 'rounds'],
  timeout: 600_000,
}, async () => {
  const { workspace, root } = await openSite()
  for (const round of rounds({ quick: 20, seconds: 200, most: 500 })) {
    const random = seededRandom(round + 10_000)
    const model = await modelOfWorkspace(workspace, root)
    const [mine, theirs] = [`machine ${round} `, `workspace ${round} `]
    const pathsOf = () => [...model].flatMap(([path, { type }]) => (type === 'file' ? [path] : []))
    const shared = pathsOf()
    const target =
      shared.length > 0 && random() < 0.8 ? shared[Math.floor(random() * shared.length)] : `/new-${round % 7}`
    const asDirectory = random() < 0.2
    const running = await workspace.spawn(
      `cat >/dev/null; ${asDirectory ? `rm -rf "$T"; mkdir -p "$T"; echo "${mine}" > "$T/in"` : `echo "${mine}" > "$T"`}`,
      { env: { T: `${root}${target}` }, writableStdin: true, cwd: root },
    )
    await workspace.write(root + target, theirs)
    running.endInput()
    const { stderr, exitCode } = await running.wait()
    const after = await modelOfWorkspace(workspace, root)
    const texts = [...after.values()].flatMap((node) => (node.type === 'file' ? [node.content] : []))
    expect({ exitCode, stderr }, `${round}: ${target}`).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('.conflict-'),
    })
    expect(after.get(target ?? '')).toMatchObject({ content: theirs })
    expect(texts).toContain(`${mine}\n`)
    await workspace.exec('true')
    expect(linesOf(await modelOfDirectory(root))).toEqual(linesOf(after))
    if (after.size > 30) await workspace.exec('find . -mindepth 1 -delete')
  }
})
