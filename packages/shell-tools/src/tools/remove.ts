import type { Invocation, Tool } from '../contract.ts'
import { pathOf, wordsOf } from '../operands.ts'
import { Output } from '../output.ts'
import { parseArguments } from '../options.ts'
import { codeOf } from '../errors.ts'

export const rmOptions = { flags: 'rRfdv', long: ['recursive', 'force', 'dir', 'verbose'] }

export const rm: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(rmOptions, call.given)
  const has = (...names: string[]) => options.some(({ name }) => names.includes(name))
  const force = has('-f', '--force')
  const recursive = has('-r', '-R', '--recursive')
  const empty = has('-d', '--dir')
  if (has('-v', '--verbose')) call.host.refuse('rm -v', 'list the files first')
  if (operands.length === 0 && !force) output.fail('rm: missing operand')
  for (const operand of operands) {
    const last = operand.replace(/\/+$/, '').split('/').at(-1)
    if (recursive && (last === '.' || last === '..')) {
      output.fail(`rm: refusing to remove '.' or '..' directory: skipping '${operand}'`)
      continue
    }
    if (recursive && /^\/+$/.test(operand)) {
      output.fail("rm: it is dangerous to operate recursively on '/'")
      continue
    }
    try {
      await removeOne(call, operand, { recursive, empty })
    } catch (error) {
      if (force && ['ENOENT', 'ENOTDIR'].includes(codeOf(error))) continue
      output.fail(`rm: cannot remove '${operand}': ${wordsOf(error)}`)
    }
  }
  return output.result()
}

async function removeOne(
  call: Invocation,
  operand: string,
  { recursive, empty }: { readonly recursive: boolean; readonly empty: boolean },
): Promise<void> {
  const { fs } = call.context
  const path = pathOf(call, operand)
  // A trailing slash means the directory behind a link, which must not be removed through the link.
  const own = operand.endsWith('/') ? await fs.lstat(path.replace(/\/+$/, '')) : undefined
  if (own?.isSymbolicLink === true && recursive && (await fs.stat(path)).isDirectory)
    call.host.refuse('rm -r', `'${operand}' is a link, and what it leads to would be emptied`)
  if (own?.isSymbolicLink === true) throw Object.assign(new Error(), { code: 'ENOTDIR' })
  const { isDirectory } = await fs.lstat(path)
  if (isDirectory && !recursive && !empty) throw Object.assign(new Error(), { code: 'EISDIR' })
  await fs.rm(path.replace(/(.)\/+$/, '$1'), { recursive: isDirectory && recursive })
}

export const mvOptions = { flags: 'fnvT', valued: 't', long: ['force', 'no-clobber', 'target-directory='] }

export const mv: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(mvOptions, call.given)
  const has = (...names: string[]) => options.some(({ name }) => names.includes(name))
  const given = options.findLast(({ name }) => name === '-t' || name === '--target-directory')?.value
  const sources = given === undefined ? operands.slice(0, -1) : operands
  const target = given ?? operands.at(-1)
  if (target === undefined || sources.length === 0) {
    output.fail(
      operands.length === 0
        ? 'mv: missing file operand'
        : `mv: missing destination file operand after '${operands[0]}'`,
    )
    return output.result()
  }
  const { fs } = call.context
  const into =
    !has('-T') &&
    (await fs.stat(pathOf(call, target)).then(
      ({ isDirectory }) => isDirectory,
      () => false,
    ))
  if (!into && (sources.length > 1 || given !== undefined)) {
    output.fail(
      `mv: target '${target}': ${(await fs.exists(pathOf(call, target))) ? 'Not a directory' : 'No such file or directory'}`,
    )
    return output.result()
  }
  const made = new Set<string>()
  for (const source of sources) {
    const name = source.replace(/\/+$/, '').split('/').at(-1) ?? ''
    const shown = into ? `${target.replace(/\/+$/, '')}/${name}` : target
    try {
      await moveOne(call, source, shown, { keep: has('-n', '--no-clobber'), made })
      if (has('-v')) output.write(Buffer.from(`renamed '${source}' -> '${shown}'\n`).toString('latin1'))
    } catch (error) {
      output.fail(
        error instanceof MoveError ? error.message : `mv: cannot move '${source}' to '${shown}': ${wordsOf(error)}`,
      )
    }
  }
  return output.result()
}

class MoveError extends Error {}

async function moveOne(
  call: Invocation,
  source: string,
  shown: string,
  { keep, made }: { readonly keep: boolean; readonly made: Set<string> },
): Promise<void> {
  const { fs } = call.context
  const from = pathOf(call, source)
  const to = pathOf(call, shown)
  const moved = await fs.lstat(from).catch((error: unknown) => {
    throw new MoveError(`mv: cannot stat '${source}': ${wordsOf(error)}`)
  })
  const there = await fs.lstat(to).catch(() => undefined) // the move itself reports the error
  const last = source.replace(/\/+$/, '').split('/').at(-1)
  if (last === '.' || last === '..')
    throw new MoveError(`mv: cannot move '${source}' to '${shown}': Device or resource busy`)
  if (there !== undefined && keep) return
  if (shown.endsWith('/') && !moved.isDirectory && there?.isDirectory !== true)
    throw new MoveError(`mv: cannot move '${source}' to '${shown}': Not a directory`)
  if (there !== undefined && there.identity === moved.identity)
    throw new MoveError(`mv: '${source}' and '${shown}' are the same file`)
  if (made.has(to)) throw new MoveError(`mv: will not overwrite just-created '${shown}' with '${source}'`)
  if (there?.isDirectory === true && !moved.isDirectory)
    throw new MoveError(`mv: cannot overwrite directory '${shown}' with non-directory`)
  if (there !== undefined && !there.isDirectory && moved.isDirectory)
    throw new MoveError(`mv: cannot overwrite non-directory '${shown}' with directory '${source}'`)
  if (moved.isDirectory && `${String(await realTarget(call, to))}/`.startsWith(`${moved.identity ?? from}/`))
    throw new MoveError(`mv: cannot move '${source}' to a subdirectory of itself, '${shown}'`)
  // Removes a link at the destination first: the file API would write to the link's target.
  if (there?.isSymbolicLink === true && !moved.isDirectory) await fs.rm(to)
  await fs.mv(from.replace(/(.)\/+$/, '$1'), to.replace(/(.)\/+$/, '$1'))
  made.add(to)
}

/** The path with the links of its parent directory resolved; unchanged if that directory does not exist. */
async function realTarget(call: Invocation, path: string): Promise<string> {
  const { fs } = call.context
  const parent = path.replace(/\/+$/, '').replace(/\/[^/]*$/, '') || '/'
  const name = path.replace(/\/+$/, '').split('/').at(-1)
  return fs.realpath(parent).then(
    (real) => `${real === '/' ? '' : real}/${name}`,
    () => path,
  )
}
