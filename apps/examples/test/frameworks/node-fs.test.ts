/** @module-tag all */
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, WorkspaceError } from '@ws/core'
import type { Stat, Workspace } from '@ws/core'
import git from 'isomorphic-git'
import { expect, it, onTestFinished } from 'vitest'

type Encoding = BufferEncoding | { readonly encoding?: BufferEncoding | null | undefined } | null | undefined

/**
 * The part of `node:fs/promises` that libraries ask for when they take a file system: git, bundlers, indexers. Errors carry the
 * `code` that Node would give, and the workspace's own words.
 */
function nodeFs(workspace: Workspace) {
  return {
    async readFile(path: string, options?: Encoding): Promise<string | Buffer> {
      const { bytes } = await workspace.read(path)
      const encoding = typeof options === 'string' ? options : options?.encoding
      const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      return encoding ? content.toString(encoding) : content
    },
    async writeFile(path: string, data: string | Uint8Array): Promise<void> {
      await workspace.write(path, data, { parents: false })
    },
    async readdir(path: string): Promise<string[]> {
      const names: string[] = []
      for await (const { name } of workspace.list(path)) names.push(name)
      return names
    },
    async mkdir(path: string, { recursive = false }: { readonly recursive?: boolean } = {}): Promise<void> {
      await workspace.createDirectory(path, { recursive })
    },
    async rmdir(path: string): Promise<void> {
      const { type } = await workspace.stat(path)
      if (type !== 'directory')
        throw new WorkspaceError({ code: 'ENOTDIR', operation: 'rmdir', path, reason: 'is no directory' })
      await workspace.delete(path)
    },
    async unlink(path: string): Promise<void> {
      const { type } = await workspace.stat(path)
      if (type === 'directory')
        throw new WorkspaceError({ code: 'EISDIR', operation: 'unlink', path, reason: 'is a directory' })
      await workspace.delete(path)
    },
    async rename(from: string, to: string): Promise<void> {
      await workspace.move(from, to, { overwrite: true, parents: false })
    },
    stat: async (path: string) => statsOf(await workspace.stat(path, { followLinks: true })),
    lstat: async (path: string) => statsOf(await workspace.stat(path)),
    readlink: (path: string) => workspace.readSymlink(path),
    symlink: (target: string, path: string) => workspace.createSymlink(path, target),
    chmod: (path: string, mode: number) => workspace.chmod(path, mode),
  }
}

const typeBits = { file: 0o100_000, directory: 0o040_000, symlink: 0o120_000, other: 0 }

function statsOf({ type, size, mode = type === 'directory' ? 0o755 : 0o644, modifiedAt = 0 }: Stat) {
  return {
    isFile: () => type === 'file',
    isDirectory: () => type === 'directory',
    isSymbolicLink: () => type === 'symlink',
    ...{ size, mode: typeBits[type] | mode, mtimeMs: modifiedAt, ctimeMs: modifiedAt, dev: 0, ino: 0, uid: 0, gid: 0 },
  }
}

it('lets a library that takes a file system work in a workspace, here git, under its rules', async () => {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: { '/a.txt': 'one\n' } }) }],
    rules: [rules.readOnly('/docs')],
  })
  onTestFinished(() => workspace.close())
  const fs = { promises: nodeFs(workspace) }
  const repository = { fs, dir: '/' }

  await git.init({ ...repository, defaultBranch: 'main' })
  await git.add({ ...repository, filepath: 'a.txt' })
  const author = { name: 'Ada', email: 'ada@example.com' }
  await git.commit({ ...repository, message: 'First', author })
  await workspace.write('/a.txt', 'two\n')
  expect(await git.status({ ...repository, filepath: 'a.txt' })).toBe('*modified')
  expect((await git.log(repository)).map(({ commit }) => commit.message)).toEqual(['First\n'])
  expect(await git.currentBranch(repository)).toBe('main')

  await expect(fs.promises.writeFile('/docs', 'x')).rejects.toMatchObject({ code: 'EACCES' })
  await expect(fs.promises.readFile('/missing')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(fs.promises.rmdir('/.git')).rejects.toMatchObject({ code: 'ENOTEMPTY' })
})
