import { readdir, readFile, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'

import { defineStepType } from '@ws/runner'
import type { StepContext } from '../../src/types/types.ts'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'
import { z } from 'zod'

import { commands, createSite, testTypes, treeOf, type Site } from '../support.ts'

/** A step that must not get at the secret beside the workspace, nor change anything but `out`. */
interface Attack {
  readonly title: string
  readonly steps: readonly object[]
  readonly prepare?: (site: Site) => Promise<void>
}

const secret = 'the secret beside the workspace'
const files = { 'workspace/src/a.txt': 'A', 'secret.txt': secret, 'other/keep.txt': 'kept' }

const copy = (from: string, to: string, id = 'one', more: object = {}): object => {
  return {
    id,
    type: 'copy',
    with: { from, to },
    inputs: ['src', ...(from.startsWith('src') ? [] : [from])],
    outputs: [to],
    ...more,
  }
}
const run = (line: string, outputs: readonly string[] = ['got'], id = 'one', more: object = {}): object => {
  return { id, type: 'command', with: { run: line }, inputs: ['src'], outputs, ...more }
}
const link =
  (target: string, path = 'workspace/src/link') =>
  (site: Site) =>
    symlink(target.replace('SITE', site.directory), join(site.directory, path))

/** Paths that climb, by themselves, in templates, and with names of the output in front. */
const climbs = [
  '../secret.txt',
  '../../secret.txt',
  'src/../../secret.txt',
  './../secret.txt',
  'src/./../../secret.txt',
  '{workspace_path}/../secret.txt',
  '{output_path}/../../secret.txt',
  '{prompt_path}/../../secret.txt',
  'out/../../secret.txt',
  'out/out/../../../secret.txt',
  '/../secret.txt',
  '/workspace/../secret.txt',
  '//workspace/../secret.txt',
  '/output/../secret.txt',
  '/proc/self/root/etc/passwd',
  '/proc/self/cwd/../secret.txt',
] as const

const attacks: readonly Attack[] = [
  ...climbs.map((path): Attack => ({ title: `read ${path}`, steps: [copy(path, 'got')] })),
  ...climbs.map((path): Attack => ({ title: `write ${path}`, steps: [copy('src/a.txt', path)] })),
  { title: 'an input that is a link out', prepare: link('SITE/secret.txt'), steps: [copy('src/link', 'got')] },
  {
    title: 'an input that is a relative link out',
    prepare: link('../../secret.txt'),
    steps: [copy('src/link', 'got')],
  },
  { title: 'an input below a link to a directory', prepare: link('SITE'), steps: [copy('src/link/secret.txt', 'got')] },
  {
    title: 'a link to a link out',
    prepare: async (site) => {
      await link('link2')(site)
      await link('SITE/secret.txt', 'workspace/src/link2')(site)
    },
    steps: [copy('src/link', 'got')],
  },
  {
    title: 'a link out, read by a command',
    prepare: link('SITE/secret.txt'),
    steps: [run('cat src/link > $OUTPUT/got')],
  },
  {
    title: 'a link to /proc, read by a command',
    prepare: link('/proc/1/root'),
    steps: [run('cat src/link$PWD/../secret.txt > $OUTPUT/got')],
  },
  {
    title: 'an output that is a link out',
    prepare: link('SITE/other/keep.txt', 'workspace/out/got'),
    steps: [copy('src/a.txt', 'got')],
  },
  {
    title: 'an output below a link out',
    prepare: link('SITE/other', 'workspace/out/d'),
    steps: [copy('src/a.txt', 'd/keep.txt')],
  },
  {
    title: 'an output directory that is a link out',
    prepare: link('SITE/other', 'workspace/out/d'),
    steps: [run('mkdir $OUTPUT/d; echo x > $OUTPUT/d/keep.txt', ['d'])],
  },
  {
    title: 'a link that an earlier step lands, written through',
    steps: [run('ln -s ../../other $OUTPUT/d', ['d'], 'first'), copy('src/a.txt', 'd2', 'one', { needs: ['first'] })],
  },
  {
    title: 'a link within the output, written through by a later step',
    steps: [
      run('mkdir $OUTPUT/d; ln -s ../e $OUTPUT/d/way', ['d'], 'first'),
      run('mkdir -p $OUTPUT/d/way; echo x > $OUTPUT/d/way/x', ['d/way'], 'one', { needs: ['first'] }),
    ],
  },
  {
    title: 'a chain of links that leads out together',
    steps: [run('mkdir -p $OUTPUT/p/q; ln -s ../.. $OUTPUT/p/q/up; ln -s p/q/up/../other $OUTPUT/way', ['p', 'way'])],
  },
  { title: 'a link to the system', steps: [run('ln -s /etc/passwd $OUTPUT/got')] },
  { title: 'a link to the workspace', steps: [run('ln -s /workspace/src/a.txt $OUTPUT/got')] },
  { title: 'a link that replaces staging', steps: [run('ln -s ../../../secret.txt $OUTPUT/got')] },
  { title: 'a hard link to an input', steps: [run('ln src/a.txt $OUTPUT/got')] },
  { title: 'a FIFO', steps: [run('mkfifo $OUTPUT/got')] },
  { title: 'a name that is not UTF-8', steps: [run('printf x > "$OUTPUT/$(printf \'a\\377\')"', ['.'])] },
  { title: 'an output beside the declared one', steps: [run('echo x > $OUTPUT/got; echo x > $OUTPUT/got2')] },
  { title: 'an output in another case', steps: [run('echo x > $OUTPUT/GOT')] },
  { title: 'a write into the workspace', steps: [run('echo x > src/a.txt')] },
  { title: 'a new file in the workspace', steps: [run('echo x > /workspace/new.txt')] },
  { title: 'a write to the output itself', steps: [run('echo x > /workspace/out/x; echo x > $OUTPUT/got')] },
  { title: 'a rename of an input', steps: [run('mv src/a.txt $OUTPUT/got')] },
  { title: 'a change of rights of an input', steps: [run('chmod 777 src/a.txt; rm -rf src; echo x > $OUTPUT/got')] },
  {
    title: 'a read of the environment of the runner',
    steps: [run('cat /proc/[0-9]*/environ > $OUTPUT/got 2>/dev/null; true')],
  },
  {
    title: 'a search of the whole system',
    steps: [run(`grep -rs '${secret}' / --include=secret.txt > $OUTPUT/got; true`)],
  },
  {
    title: 'the state of the run',
    steps: [run('find / -path "*/journal/version.json" 2>/dev/null > $OUTPUT/got; true')],
  },
  {
    title: 'the staging directory of another step',
    steps: [run('ls -d /output/../*~* ../*~* > $OUTPUT/got 2>/dev/null; true')],
  },
  { title: 'the id of another run', steps: [{ ...run('true', []), id: '../x~one~1' }] },
  { title: 'a group named like a property', steps: [{ ...run('true', []), group: '__proto__' }] },
  { title: 'an id named like a property', steps: [{ ...run('echo x > $OUTPUT/got'), id: '__proto__' }] },
  {
    title: 'an exception outside',
    steps: [{ ...run('true', []), exceptions: [{ path: '../other', justification: 'none' }] }],
  },
  {
    title: 'an exception by a link',
    prepare: link('SITE/other'),
    steps: [
      run('echo x > src/link/keep.txt', [], 'one', { exceptions: [{ path: 'src/link', justification: 'none' }] }),
    ],
  },
  {
    title: 'a background process that goes on',
    steps: [run('(sleep 1; echo late > $OUTPUT/late) & echo x > $OUTPUT/got')],
  },
  {
    title: 'an input that becomes a link between check and use',
    steps: [{ id: 'one', type: 'swap', inputs: ['src'], outputs: ['got'] }],
  },
  {
    title: 'a tool that reads outside',
    steps: [
      {
        id: 'one',
        type: 'tool',
        inputs: ['src'],
        outputs: [],
        with: { tool: 'read', arguments: { path: '../secret.txt' } },
      },
    ],
  },
  {
    title: 'a tool that writes outside',
    steps: [
      {
        id: 'one',
        type: 'tool',
        inputs: ['src'],
        outputs: ['got'],
        with: { tool: 'write', arguments: { path: '../other/keep.txt', content: 'x' } },
      },
    ],
  },
]

/** Replaces an input by a link out after the check, and then reads it. */
const swap = (site: () => Site) =>
  defineStepType({
    settings: z.strictObject({}),
    async run(_, context: StepContext) {
      const path = join(site().workspace, 'src/a.txt')
      await unlink(path)
      await symlink(join(site().directory, 'secret.txt'), path)
      await context.write('got', await context.read('src/a.txt'))
      return undefined
    },
  })

describeWith(component('bubblewrap'), 'hostile plans', () => {
  it('are at least 60', () => {
    expect(attacks.length).toBeGreaterThanOrEqual(60)
  })

  it.each(attacks)(
    '[PM3, PM9] $title: nothing is read outside the workspace or written outside the output',
    async ({ steps, prepare }) => {
      await using site = await createSite({ files })
      await prepare?.(site)
      const outside = async () => [
        await site.read('secret.txt'),
        await treeOf(join(site.directory, 'other')),
        await inputsOf(site),
      ]
      const before = await outside()
      const runner = await site.runner({ ...commands, types: { ...testTypes, swap: swap(() => site) } })
      const result = await runner
        .run({ version: 1, templates: { prompt_path: 'src' }, steps })
        .catch((error: unknown) => error)
      // a refusal before the run, a failed step, or a step that ended without its loot
      expect(result).toBeDefined()
      expect(await outside()).toEqual(before)
      const loot = await everythingIn(site.output)
      expect(loot).not.toContain(secret)
      expect(loot).not.toContain('root:x:')
      expect(loot).not.toMatch(/journal\/version|~one~|WS_|VITEST/u)
    },
  )
})

/** The workspace without the output, and without the input that the attack `swap` replaces by itself. */
async function inputsOf(site: Site): Promise<Record<string, string>> {
  const entries = Object.entries(await treeOf(site.workspace, ['out']))
  return Object.fromEntries(entries.filter(([path]) => path !== 'src/a.txt'))
}

/** The content of all regular files, and nothing that a link leads to. */
async function everythingIn(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const texts = entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1'))
  return (await Promise.all(texts)).join('\n')
}

it('[PM3] keeps the input that a command tried to change', async () => {
  await using site = await createSite({ files })
  const runner = await site.runner(commands)
  await runner.run({ version: 1, steps: [run('echo x > src/a.txt; rm -f src/a.txt; true', [])] })
  expect(await site.read('workspace/src/a.txt')).toBe('A')
})
