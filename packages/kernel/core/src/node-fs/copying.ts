import type { FileType } from '../contract/file-types.ts'
import { above, constants, type PathArgument } from './arguments.ts'
import type { Caller } from './caller.ts'
import { nodeError, systemError } from './errors.ts'

export interface CopyOptions {
  readonly recursive?: boolean | undefined
  /** Default true. */
  readonly force?: boolean | undefined
  readonly errorOnExist?: boolean | undefined
  readonly filter?: ((source: string, destination: string) => boolean | Promise<boolean>) | undefined
}

export async function copyFile(caller: Caller, from: PathArgument, to: PathArgument, mode: number): Promise<void> {
  const { workspace } = caller
  await caller.callBoth('copyfile', from, to, async (source, destination, syscall) => {
    const exclusive = (mode & constants.COPYFILE_EXCL) !== 0
    const { type } = await caller.stat(source)
    const there = await caller.statIf(destination)
    if (type === 'directory' || there?.type === 'directory') throw nodeError('EISDIR', syscall)
    if (there !== undefined && exclusive) throw nodeError('EEXIST', syscall)
    const into = there === undefined ? destination : await workspace.realPath(destination)
    await workspace.copy(await workspace.realPath(source), into, { overwrite: !exclusive, parents: false })
  })
}

export async function copyTree(
  caller: Caller,
  source: string,
  destination: string,
  options: CopyOptions,
): Promise<void> {
  const { recursive = false, force = true, errorOnExist = false, filter } = options
  const { workspace } = caller
  if (filter !== undefined && !(await filter(source, destination))) return
  const { type } = await caller.call('lstat', source, async (path) => await workspace.stat(path))
  const there = await caller.call('lstat', destination, async (path) => await caller.statIf(path))
  const isDirectory = type === 'directory'
  if (there !== undefined && isDirectory !== (there.type === 'directory')) {
    throw otherType(isDirectory, source, destination)
  }
  if (!isDirectory) {
    if (there === undefined || force) await copyEntry(caller, source, destination, type)
    else if (errorOnExist) throw systemError('ERR_FS_CP_EEXIST', 'cp', destination, `${destination} already exists`)
    return
  }
  if (!recursive) throw systemError('ERR_FS_EISDIR', 'cp', source, `${source} is a directory (not copied)`)
  if (`${destination}/`.startsWith(`${source}/`)) {
    const says = `cannot copy ${source} to a subdirectory of self ${destination}`
    throw systemError('ERR_FS_CP_EINVAL', 'cp', destination, says)
  }
  const entries = await caller.callBoth('cp', source, destination, async () => {
    await workspace.createDirectory(destination, { recursive: true })
    return await Array.fromAsync(workspace.list(source))
  })
  for (const { name } of entries) await copyTree(caller, `${source}/${name}`, `${destination}/${name}`, options)
}

function otherType(isDirectory: boolean, source: string, destination: string): Error {
  const [code, over, kind] = isDirectory
    ? (['ERR_FS_CP_DIR_TO_NON_DIR', 'non-directory', 'directory'] as const)
    : (['ERR_FS_CP_NON_DIR_TO_DIR', 'directory', 'non-directory'] as const)
  return systemError(code, 'cp', destination, `cannot overwrite ${over} ${destination} with ${kind} ${source}`)
}

async function copyEntry(caller: Caller, source: string, destination: string, type: FileType): Promise<void> {
  const { workspace } = caller
  await caller.callBoth('cp', source, destination, async () => {
    if (type !== 'symlink') return void (await workspace.copy(source, destination, { overwrite: true, parents: true }))
    const target = await workspace.readSymlink(source)
    await workspace.delete(destination, { force: true })
    await workspace.createDirectory(above(destination), { recursive: true })
    await workspace.createSymlink(destination, absolute(`${source}/../${target}`, target))
  })
}

/** Returns a link's target as Node's `cp` writes it: absolute, without `.` and `..`. */
function absolute(path: string, target: string): string {
  if (target.startsWith('/')) return target
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}
