import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

import { isWorkspaceError, paths, WorkspaceError, type ErrorCode } from '@ws/core'

import { makeParents, type Nodes } from './tree.ts'

const operation = 'createTestWorkspace'

export async function readDirectory(directory: string): Promise<Nodes> {
  const nodes: Nodes = new Map()
  const walk = async (at: string, place: string): Promise<void> => {
    for (const name of (await readdir(place)).toSorted()) {
      const path = paths.parseMount(`${at}/${name}`, operation)
      const full = join(place, name)
      const stat = await lstat(full)
      if (stat.isDirectory()) {
        nodes.set(path, { type: 'directory' })
        await walk(path, full)
      } else if (stat.isSymbolicLink()) nodes.set(path, { type: 'symlink', target: await readlink(full) })
      else if (stat.isFile()) nodes.set(path, { type: 'file', content: await readFile(full), mode: stat.mode & 0o777 })
      else throw unfit(path, 'is not a file, a directory or a link', 'remove it from the directory')
    }
  }
  try {
    await walk('', directory)
  } catch (error) {
    if (isWorkspaceError(error)) throw error
    throw unreadable('directory', error)
  }
  return nodes
}

export async function readTar(tar: string | Uint8Array): Promise<Nodes> {
  const { extract } = await import('tar-stream').catch(() => {
    throw new WorkspaceError({
      code: 'ENOTSUP',
      operation,
      reason: 'cannot read `tar` without the package `tar-stream`',
      remedy: 'install `tar-stream` beside `@ws/testing`',
    })
  })
  const nodes: Nodes = new Map()
  const entries = extract()
  const bytes = typeof tar === 'string' ? await readFile(tar).catch((error: unknown) => fail(error)) : tar
  const fed = pipeline(Readable.from([bytes]), entries)
  fed.catch(() => undefined) // the loop over the entries reports the same error
  try {
    for await (const entry of entries) {
      const { name, type, linkname, mode } = entry.header
      const path = paths.parseMount(`/${name}`, operation)
      const content = await buffer(entry)
      if (path === paths.mountRoot) continue
      makeParents(nodes, path, operation)
      if (type === 'directory') nodes.set(path, { type: 'directory' })
      else if (type === 'symlink') nodes.set(path, { type: 'symlink', target: linkname ?? '' })
      else if (type === 'file') nodes.set(path, { type: 'file', content, mode: (mode ?? 0o644) & 0o777 })
      else throw unfit(path, `is of the type \`${type}\``, 'make the archive of files, directories and links')
    }
    await fed
  } catch (error) {
    if (isWorkspaceError(error)) throw error
    throw unreadable('tar', error)
  }
  return nodes
}

function fail(error: unknown): never {
  throw unreadable('tar', error)
}

function unreadable(option: string, native: unknown): WorkspaceError {
  const missing = (native as NodeJS.ErrnoException).code
  const code: ErrorCode = missing === 'ENOENT' || missing === 'ENOTDIR' ? missing : 'EINVAL'
  const reason = `cannot read \`${option}\`: ${missing ?? (native as Error).message}`
  return new WorkspaceError({ code, operation, reason, remedy: 'check the path', native })
}

function unfit(path: string, reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, path, reason, remedy })
}
