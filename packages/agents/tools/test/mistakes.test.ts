import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter, probeS3Dialect } from '@ws/adapter-s3'
import { createWorkspace, paths } from '@ws/core'
import type { AccessEvent, VirtualPath, Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createTools, type ToolsOptions } from '@ws/tools'
import { describe, expect, it, onTestFinished } from 'vitest'

import { ruleNotes } from '../src/text/rule-notes.ts'

const files = {
  '/src/app.ts': 'const a = 1\nconst b = 2\n',
  '/src/util.ts': 'x\n',
  '/src/lib/text/lines.ts': 'x\n',
  '/bin.dat': 'a\0\0\0b',
  ...Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`/d${index}/file.ts`, 'x\n'])),
}

type Mistake = readonly [NonNullable<ToolsOptions['face']>, string, object, RegExp]

/** Typical mistakes of models, and the next call that the answer offers. */
const mistakes: readonly Mistake[] = [
  ['split', 'read', { path: '/nope.js' }, /^list .*"\/"/u],
  ['split', 'read', { path: '/src/ap.ts' }, /^read .*"\/src\/app.ts"/u],
  ['split', 'read', { path: '/srcs/app.ts' }, /^list .*"\/src"/u],
  ['split', 'read', { path: '/src/lib/tex/lines.ts' }, /^list .*"\/src\/lib\/text"/u],
  ['split', 'read', { path: '/x/y/z/w.ts' }, /^list .*"\."/u],
  ['split', 'read', { path: '/src' }, /^list .*"\/src"/u],
  ['split', 'read', { path: '/src/app.ts/x' }, /^read .*"\/src\/app.ts"/u],
  ['split', 'read', { path: '/bin.dat' }, /^inspect .*"\/bin.dat"/u],
  ['split', 'read', { pth: '/src/app.ts' }, /^read .*"\/src\/app.ts"/u],
  ['split', 'read', {}, /^read|^list/u],
  ['split', 'list', { path: '/src/app.ts' }, /^read .*"\/src\/app.ts"/u],
  ['split', 'list', { path: '/scr' }, /^list .*"\/"/u],
  ['split', 'replace', { path: '/src/app.ts', old: 'const c', new: 'd' }, /^read /u],
  ['split', 'replace', { path: '/src/app.ts', old: 'const', new: 'd' }, /^replace .*"all":true/u],
  ['split', 'replace', { path: '/src/apps.ts', old: 'const', new: 'd' }, /^read .*"\/src\/app.ts"/u],
  ['split', 'write', { path: '/src/app.ts', content: 'x', create_only: true }, /^inspect /u],
  ['split', 'write', { path: '/src/app.ts', content: 'x', if_version: 'zz' }, /^inspect /u],
  ['split', 'write', { path: '/src/app.ts' }, /^read /u],
  ['split', 'delete', { path: '/src' }, /^list .*"\/src"/u],
  ['split', 'delete', { path: '/sr' }, /^list .*"\/src"/u],
  ['split', 'move', { from: '/src/app.ts', to: '/src/util.ts' }, /^inspect .*"\/src\/util.ts"/u],
  ['split', 'move', { from: '/src/app.ts', to: '/src/lib' }, /^list .*"\/src\/lib"/u],
  ['split', 'copy', { from: '/src/apq.ts', to: '/src/other.ts' }, /^read .*"\/src\/app.ts"/u],
  ['split', 'search', { pattern: '(' }, /^search .*"literal":true/u],
  ['split', 'search', { pattern: 'a', path: '/scr' }, /^list .*"\/"/u],
  ['split', 'raed', { path: '/src/app.ts' }, /^read /u],
  ['file_system', 'file_system', { operation: 'raed', path: '/src/app.ts' }, /^file_system .*"read"/u],
  ['claude-code', 'Read', { file_path: '/src/ap.ts' }, /^Read .*"\/src\/app.ts"/u],
  ['claude-code', 'Edit', { file_path: '/src/app.ts', old_string: 'zzz', new_string: 'y' }, /^Read /u],
  ['claude-code', 'Write', { file_path: '/src/app.ts', content: 'y' }, /^Read /u],
  ['claude-code', 'Grep', { pattern: 'a', path: '/scr' }, /^Glob /u],
  ['anthropic', 'memory', { command: 'view', path: '/memories/nope' }, /^memory .*"\/memories"/u],
  ['anthropic', 'str_replace_based_edit_tool', { command: 'view', path: '/src/ap.ts' }, /view.*"\/src\/app.ts"/u],
  ['openai', 'apply_patch', { type: 'update_file', path: '/src/nope.ts', diff: '@@\n-a\n+b\n' }, /^$/u],
  ['openai', 'apply_patch', { type: 'update_file', path: '/src/app.ts', diff: '@@\n-a\n+b\n' }, /^$/u],
]

describe('a mistake of a model', () => {
  it.each(mistakes)('%s: %s %j costs at most 4 requests of a store, and its next call is done', async (...mistake) => {
    const store = countingStore()
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: store.adapter }] })
    onTestFinished(() => workspace.close())
    expect(await make(workspace, mistake, store)).toBeLessThanOrEqual(4)
  })

  it('[RU9] leaves its own event, and others that say that the model did not ask for them', async () => {
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files }) }] })
    onTestFinished(() => workspace.close())
    const events: AccessEvent[] = []
    workspace.on('access', (event) => events.push(event))
    const toolset = createTools(workspace, { face: 'split' })
    await toolset.run('read', { path: '/src/ap.ts' })
    await toolset.run('replace', { path: '/src/app.ts', old: 'const', new: 'd' })
    const told = events.map(({ operation, path, rehearsal }) => `${operation} ${path}${rehearsal ? ' rehearsal' : ''}`)
    expect(told).toEqual([
      'read /src/ap.ts',
      'list / rehearsal',
      'list /src rehearsal',
      'edit /src/app.ts',
      'read /src/app.ts rehearsal',
    ])
  })

  it('compares the first 1,000 names of a large directory', async () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`/many/${index}`.padEnd(40, 'x'), '']))
    const workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: { ...many, '/many/nearly.ts': '' } }) }],
    })
    onTestFinished(() => workspace.close())
    const read = async (path: string): Promise<string> =>
      (await createTools(workspace, { face: 'split' }).run('read', { path })).text
    expect(await read(`${'/many/999'.padEnd(39, 'x')}y`)).toContain(`The nearest is \`${'/many/999'.padEnd(40, 'x')}`)
    expect(await read('/many/nearl.ts')).not.toContain('nearly')
  })

  it('never offers to delete a tree or to overwrite a file with the text of an example', async () => {
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files }) }] })
    onTestFinished(() => workspace.close())
    const toolset = createTools(workspace, { face: 'file_system' })
    for (const input of [
      { operation: 'delete', path: '/src' },
      { operation: 'delete', pth: '/src' },
      { operation: 'write', path: '/src/app.ts' },
      { operation: 'replace', path: '/src/app.ts', old: 'const a = 1' },
      { operation: 'move', from: '/src/app.ts' },
    ]) {
      const { text, next } = await toolset.run('file_system', input)
      expect(next?.arguments, text).toMatchObject({ operation: expect.stringMatching(/^(?:read|list|inspect)$/u) })
    }
  })
})

it('a note on a name that a command made gives no advice that the rule refuses', () => {
  const violations = [{ rule: 'hooks', path: '/.git/config' as VirtualPath, kind: 'created' as const }]
  expect(ruleNotes({ violations })).toEqual([
    'Note: rule hooks is about /.git/config, which the command made; it holds from the next command on.',
  ])
})

it('an entry that a store does not share is a line of the answer, with its name fenced', () => {
  const at = (path: string): VirtualPath => path as VirtualPath
  const kept = { path: at('/w/a'), reason: 'was changed in the store; this version is kept', kept: at('/w/a.conflict') }
  expect(ruleNotes({ notes: [kept, { path: at('/w/b\n'), reason: 'is not in the store' }] })).toEqual([
    'Note: /w/a was changed in the store; this version is kept as /w/a.conflict.',
    expect.stringMatching(/^Note: [^\n]*\/w\/b[^\n]+ is not in the store\.$/u) as string,
  ])
})

describeWith(s3Needs('r2'), 'a mistake of a model on a bucket', () => {
  it('costs at most 4 requests among 100 directories', { tags: 'all', timeout: 300_000 }, async () => {
    const server = await sharedS3Server('r2')
    onTestFinished(() => server.close())
    const client = server.client({ maxAttempts: 1 })
    const sent = { count: 0 }
    client.middlewareStack.add(
      (next) => (given) => {
        sent.count += 1
        return next(given)
      },
      { step: 'initialize', priority: 'low', name: 'watch' },
    )
    const { bucket } = server
    const options = { client, bucket, dialect: await probeS3Dialect({ client, bucket }), prefix: `m-${process.pid}` }
    const filling = await createS3Adapter(options)
    for (const [path, text] of Object.entries(files))
      await filling.write(paths.parseMount(path), Buffer.from(text), { parents: true })
    const costs: Record<string, number> = {}
    for (const mistake of mistakes) {
      // this store takes a file for a directory too: the call would be done
      if (JSON.stringify(mistake).includes('app.ts/x')) continue
      const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: await createS3Adapter(options) }] })
      const cost = await make(workspace, mistake, sent)
      if (cost > 4) costs[JSON.stringify(mistake)] = cost
      await workspace.close()
    }
    expect(costs).toEqual({})
  })
})

/** Makes the mistake, then the call that the answer offers. @returns the requests of the mistake */
async function make(workspace: Workspace, [face, tool, input, next]: Mistake, sent: { count: number }) {
  const toolset = createTools(workspace, { face })
  sent.count = 0
  const answer = await toolset.run(tool, input)
  const { count } = sent
  expect(answer.isError, answer.text).toBe(true)
  const [, offered = ''] = /\nNext: (.*)$/u.exec(answer.text) ?? []
  expect(offered).toMatch(next)
  if (answer.next !== undefined) {
    const done = await toolset.run(answer.next.tool, answer.next.arguments)
    expect(done.isError, done.text).toBe(false)
  }
  await toolset.close()
  return count
}

/** Memory without links that counts each call, each directory of a recursive listing, and a search as a whole tree. */
function countingStore() {
  const memory = createMemoryAdapter({ files })
  const sent = { count: 0 }
  const counted = new Set(['stat', 'read', 'readStream', 'list', 'search', 'write', 'delete', 'move', 'copy'])
  async function* walk<Item>(items: AsyncIterable<Item>, isSearch: boolean): AsyncGenerator<Item> {
    for await (const item of items) {
      if ((item as { type?: string }).type === 'directory') sent.count += 1
      yield item
    }
    if (isSearch) sent.count += 100
  }
  const adapter = new Proxy(memory, {
    get(target, name) {
      if (name === 'capabilities') return { ...target.capabilities, symlinks: false }
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== 'function') return value
      return (...given: readonly unknown[]): unknown => {
        const result = (value as (...all: unknown[]) => unknown).apply(target, [...given])
        if (!counted.has(String(name))) return result
        sent.count += 1
        const isTree = name === 'search' || (given[1] as { recursive?: boolean } | undefined)?.recursive === true
        return isTree ? walk(result as AsyncIterable<object>, name === 'search') : result
      }
    },
  })
  return {
    adapter: adapter as StorageAdapter,
    get count() {
      return sent.count
    },
    set count(value) {
      sent.count = value
    },
  }
}
