import { execFile } from 'node:child_process'
import { chmod, cp, lchown, mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { asOwner, createScratchDirectory, ordinaryOwner, type Owner } from './owner.ts'

export interface SampleProjectOptions {
  readonly owner?: Owner | undefined
  /** An empty directory, which the caller removes. Default: a scratch directory. */
  readonly directory?: string | undefined
  /** The target of `link-outside`: a host path. Default: a file with {@link SampleProject.secret} beside the project. */
  readonly outside?: string | undefined
}

/** A copy of the sample project, removed when it goes out of scope. */
export interface SampleProject extends AsyncDisposable {
  /** The project's directory, free of links. */
  readonly path: string
  readonly owner: Owner
  readonly outside: string
  /** The content of the outside file, if this function made it. No command inside may read it. */
  readonly secret: string
  /** False if git is missing: the project is then no repository. */
  readonly git: boolean
}

/** Names that git or other systems cannot handle, so they are not in the repository. */
export const oddNames = [
  ' leading and trailing ',
  'quote " and \' and ` both',
  'new\nline',
  '-rf',
  'pipe | and : colon',
  'back\\slash',
  '$(touch owned)',
  'star * [x] ?',
  'größe 日本語 🙂',
  'tab\tand \u001b[31mescape',
  '.hidden file',
  '...',
] as const

/** The folder in the project that holds a file for each of {@link oddNames}. */
export const oddNamesDirectory = 'odd names'

const sources = fileURLToPath(new URL('../sample-project', import.meta.url))

/** Copies the project, and adds odd names, an executable, links, and a repository of one commit. */
export async function createSampleProject(options: SampleProjectOptions = {}): Promise<SampleProject> {
  const { owner = ordinaryOwner() } = options
  await using cleanup = new AsyncDisposableStack()
  const scratch = options.directory === undefined ? await createScratchDirectory({ owner }) : undefined
  if (scratch !== undefined) cleanup.use(scratch)
  const path = await realpath(options.directory ?? (await makeDirectory(join(scratch?.path ?? '', 'project'))))

  const secret = `outside-${crypto.randomUUID()}`
  let { outside } = options
  if (outside === undefined) {
    outside = join(await makeDirectory(join(path, '..', 'outside')), 'secret.txt')
    await writeFile(outside, secret)
  }
  await cp(sources, path, { recursive: true })
  await complete(path, outside)
  await giveTo(owner, scratch?.path ?? path)
  const git = await makeRepository(path, owner)

  const kept = cleanup.move()
  return { path, owner, outside, secret, git, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function makeDirectory(path: string): Promise<string> {
  await mkdir(path)
  return path
}

async function complete(path: string, outside: string): Promise<void> {
  const odd = await makeDirectory(join(path, oddNamesDirectory))
  await Promise.all(oddNames.map((name, index) => writeFile(join(odd, name), `odd ${index}\n`)))
  await mkdir(join(path, 'empty directory'))
  await writeFile(join(path, 'run me.sh'), '#!/bin/sh\necho "started as $0"\n')
  await chmod(join(path, 'run me.sh'), 0o755)
  await symlink('docs/poem.txt', join(path, 'link-inside'))
  await symlink(outside, join(path, 'link-outside'))
  await symlink('nowhere', join(path, 'link-broken'))
}

async function giveTo(owner: Owner, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  await lchown(path, owner.uid, owner.gid)
  for (const entry of entries) await lchown(join(entry.parentPath, entry.name), owner.uid, owner.gid)
}

async function makeRepository(path: string, owner: Owner): Promise<boolean> {
  const identity = { NAME: 'Sample', EMAIL: 'sample@example.invalid', DATE: '2026-01-01T00:00:00Z' }
  const env: NodeJS.ProcessEnv = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent', LC_ALL: 'C.UTF-8' }
  for (const [key, value] of Object.entries(identity)) {
    env[`GIT_AUTHOR_${key}`] = value
    env[`GIT_COMMITTER_${key}`] = value
  }
  const git = (...args: readonly string[]) => promisify(execFile)('git', args, { ...asOwner(owner), cwd: path, env })
  try {
    await git('init', '--quiet', '--initial-branch=main', '--template=')
    await git('config', 'user.name', identity.NAME)
    await git('config', 'user.email', identity.EMAIL)
    await git('add', '--all')
    await git('commit', '--quiet', '--message', 'The sample project')
    return true
  } catch (error) {
    if (['ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}
