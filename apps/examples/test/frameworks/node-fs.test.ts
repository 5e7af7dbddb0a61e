/** @module-tag all */
import real from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createVolumeAdapter } from '@ws/adapter-memory/volume'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, rules } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createNodeFs } from '@ws/core/node-fs'
import { createScratchDirectory } from '@ws/test-fixtures'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import git from 'isomorphic-git'
import { Volume } from 'memfs'
import { rollup } from 'rollup'
import { createStorage, type Driver } from 'unstorage'
import { expect, it, onTestFinished } from 'vitest'

type Fs = typeof real

/** A result, or the code of the error. */
async function result(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error)
  }
}

async function inTurn(steps: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const results: unknown[] = []
  for (const step of steps) results.push(await result(step))
  return results
}

const author = { name: 'Ada', email: 'ada@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 }

async function useGit(fs: Fs, dir: string): Promise<unknown[]> {
  const repository = { fs, dir }
  const write = (name: string, text: string) => fs.writeFile(`${dir}/${name}`, text)
  return await inTurn([
    () => git.init({ ...repository, defaultBranch: 'main' }),
    () => git.statusMatrix(repository),
    () => write('a.txt', 'one\n'),
    () => fs.mkdir(`${dir}/d`),
    () => write('d/b.txt', 'two\n'),
    () => git.add({ ...repository, filepath: '.' }),
    () => git.commit({ ...repository, author, message: 'First' }),
    () => write('a.txt', 'changed\n'),
    () => git.status({ ...repository, filepath: 'a.txt' }),
    () => git.add({ ...repository, filepath: 'a.txt' }),
    () => git.branch({ ...repository, ref: 'topic', checkout: true }),
    () => git.commit({ ...repository, author, message: 'Second' }),
    () => git.log(repository).then((found) => found.map(({ commit, oid }) => [commit.message, oid])),
    () => git.checkout({ ...repository, ref: 'main' }),
    () => fs.readFile(`${dir}/a.txt`, 'utf8'),
    () => git.merge({ ...repository, author, ours: 'main', theirs: 'topic' }),
    () => git.checkout({ ...repository, ref: 'main', force: true }),
    () => fs.readFile(`${dir}/a.txt`, 'utf8'),
    () => git.tag({ ...repository, ref: 'v1' }),
    () => git.listBranches(repository),
    () => git.listTags(repository),
    () => git.listFiles(repository),
    () => git.currentBranch(repository),
    () => git.remove({ ...repository, filepath: 'd/b.txt' }),
    () => git.statusMatrix(repository),
    () => git.resolveRef({ ...repository, ref: 'HEAD' }),
    () => git.checkout({ ...repository, ref: 'missing' }),
  ])
}

async function useRollup(fs: Fs, dir: string): Promise<unknown[]> {
  const bundle = (input: string) => async () => {
    const made = await rollup({ input: `${dir}/${input}`, fs: fs as never, onLog: () => undefined })
    const { output } = await made.generate({ format: 'es' })
    await made.close()
    return output.map(({ fileName, ...one }) => [fileName, 'code' in one ? one.code : ''])
  }
  return await inTurn([
    () => fs.mkdir(`${dir}/src/lib`, { recursive: true }),
    () => fs.writeFile(`${dir}/src/main.js`, "import { a } from './lib/a.js'\nexport default a + 1\n"),
    () => fs.writeFile(`${dir}/src/lib/a.js`, "export { b as a } from './b.js'\n"),
    () => fs.writeFile(`${dir}/src/lib/b.js`, 'export const b = 1\nexport const unused = 2\n'),
    bundle('src/main.js'),
    bundle('src/missing.js'),
    () => fs.rm(`${dir}/src/lib/b.js`),
    bundle('src/main.js'),
  ])
}

/**
 * The driver of unstorage that imports `node:fs`, with another file system in its place. The driver clears directories: what still
 * imports the real one is refused.
 */
async function driverOver(fs: Fs, base: string): Promise<Driver> {
  const made = await rollup({
    input: fileURLToPath(import.meta.resolve('unstorage/drivers/fs-lite')),
    external: ['node:path'],
    plugins: [
      {
        name: 'replaced',
        resolveId: (id) => (id === 'node:fs' ? '\0fs' : undefined),
        load: (id) => (id === '\0fs' ? 'export const { existsSync, promises } = globalThis.replacedFs' : undefined),
      },
    ],
  })
  const { output } = await made.generate({ format: 'es' })
  await made.close()
  const [{ code, imports }] = output
  expect(imports).toEqual(['node:path'])
  const replaced = { existsSync: (path: string) => path === '/' || path === base, promises: fs }
  Object.assign(globalThis, { replacedFs: replaced })
  const name = `data:text/javascript,${encodeURIComponent(`${code}\n// ${Math.random()}`)}`
  const { default: driver } = (await import(name)) as { default: (options: { base: string }) => Driver }
  return driver({ base })
}

async function useUnstorage(fs: Fs, dir: string): Promise<unknown[]> {
  const storage = createStorage({ driver: await driverOver(fs, dir) })
  const keys = async (base?: string) => (await storage.getKeys(base)).toSorted()
  return await inTurn([
    () => keys(),
    () => storage.setItem('a', { one: 1 }),
    () => storage.setItem('d:b', 'text'),
    () => storage.setItemRaw('d:e:c', new Uint8Array([1, 2, 255])),
    () => storage.getItem('a'),
    () => storage.getItem('d:b'),
    async () => [...((await storage.getItemRaw('d:e:c')) as Uint8Array)],
    () => storage.getItem('none'),
    () => storage.getItem('d'),
    () => keys(),
    () => keys('d'),
    async () => (await storage.getMeta('a'))['size'],
    async () => await storage.getMeta('none'),
    () => storage.setItem('a', 'again'),
    () => storage.getItem('a'),
    () => storage.setItem('d', 'x'),
    () => storage.removeItem('d:b'),
    () => storage.removeItem('none'),
    () => keys(),
    () => storage.clear('d'),
    () => keys(),
    () => storage.clear(),
    () => keys(),
    () => fs.readdir(dir),
    () => storage.dispose(),
  ])
}

const adapters: Readonly<Record<string, () => StorageAdapter | Promise<StorageAdapter>>> = {
  memory: () => createMemoryAdapter(),
  'a volume of memfs': () => createVolumeAdapter(new Volume()),
  'the local disk': async () => {
    const scratch = await createScratchDirectory({ prefix: 'ws-node-fs-' })
    onTestFinished(() => scratch.remove())
    return await createLocalAdapter({ root: scratch.path })
  },
  'a bucket': async () => {
    const { bucket, endpoint, region, credentials } = await sharedS3Server('r2')
    return createS3Adapter({ bucket, endpoint, region, credentials, prefix: `node-fs-${Math.random()}` })
  },
}

for (const [library, use] of Object.entries({ 'isomorphic-git': useGit, rollup: useRollup, unstorage: useUnstorage }))
  it.each(Object.entries(adapters))(`[NF2] ${library} does over %s what it does over node:fs`, async (_, adapter) => {
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], scratch: false })
    onTestFinished(() => workspace.close())
    const scratch = await createScratchDirectory({ prefix: 'ws-node-fs-' })
    onTestFinished(() => scratch.remove())
    // the same path at both, so that a library that takes the wrong one does no harm
    const dir = `${scratch.path}/work`
    const fs = createNodeFs(workspace) as unknown as Fs
    await fs.mkdir(dir, { recursive: true })
    const inWorkspace = await use(fs, dir)
    expect(await real.readdir(scratch.path)).toEqual([])
    await real.mkdir(dir)
    expect(inWorkspace).toEqual(await use(real, dir))
  })

it('[NF2] rules hold, and the error names the rule', async () => {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: { '/.env': 'KEY=1', '/docs/a.md': 'a' } }) }],
    rules: [rules.deny('/.env'), rules.readOnly('/docs')],
  })
  onTestFinished(() => workspace.close())
  const fs = createNodeFs(workspace)
  const denied = { code: 'EACCES', errno: -13, message: "EACCES: permission denied, open '/.env'" }
  for (const attempt of [fs.readFile('/.env'), fs.writeFile('/.env', ''), fs.open('/.env', 'w')])
    await expect(attempt).rejects.toMatchObject({ ...denied, cause: { rule: 'deny(/.env)' } })
  const readOnly = { code: 'EACCES', cause: { rule: 'readOnly(/docs)' } }
  await expect(fs.rename('/docs/a.md', '/a.md')).rejects.toMatchObject(readOnly)
  await expect(fs.access('/docs/a.md', fs.constants.W_OK)).rejects.toMatchObject({ code: 'EACCES' })
  await expect(fs.cp('/docs', '/copy', { recursive: true })).resolves.toBeUndefined()
})
