import type { Invocation, Tool } from '../contract.ts'
import { pathOf, wordsOf } from '../operands.ts'
import { Output } from '../output.ts'
import { parseArguments } from '../options.ts'

export const lnOptions = { flags: 'sfnT' }

export const ln: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(lnOptions, call.given)
  const has = (letter: string) => options.some(({ name }) => name === `-${letter}`)
  const [target, ...more] = operands
  if (target === undefined) {
    output.fail('ln: missing file operand')
    return output.result()
  }
  const given = more.at(-1) ?? '.'
  const into = !has('T') && (await isDirectory(call, given, has('n')))
  const targets = more.length === 0 ? operands : operands.slice(0, -1)
  if (!into && targets.length > 1) {
    output.fail(
      `ln: target '${given}': ${(await call.context.fs.exists(pathOf(call, given))) ? 'Not a directory' : 'No such file or directory'}`,
    )
    return output.result()
  }
  for (const one of targets) {
    const name = one.replace(/\/+$/, '').split('/').at(-1) ?? ''
    const shown = into ? `${given.replace(/\/+$/, '')}/${name}` : given
    try {
      await link(call, one, shown, has('f'))
    } catch (error) {
      const words = error instanceof SameFile ? error.message : undefined
      output.fail(words ?? `ln: failed to create symbolic link '${shown}': ${wordsOf(error)}`)
    }
  }
  return output.result()
}

class SameFile extends Error {}

async function isDirectory(call: Invocation, operand: string, itself: boolean): Promise<boolean> {
  const { fs } = call.context
  const path = pathOf(call, operand)
  const look = itself && !operand.endsWith('/') ? fs.lstat(path) : fs.stat(path)
  return look.then(
    (stat) => stat.isDirectory,
    () => false,
  )
}

async function link(call: Invocation, target: string, shown: string, force: boolean): Promise<void> {
  const { fs } = call.context
  const path = pathOf(call, shown)
  const there = await fs.lstat(path).catch(() => undefined) // the creation of the link reports the error
  if (there !== undefined) {
    const same = await fs.stat(pathOf(call, target)).catch(() => undefined) // the target of a link may be missing
    if (force && same?.identity !== undefined && same.identity === there.identity) {
      throw new SameFile(`ln: '${target}' and '${shown}' are the same file`)
    }
    if (!force || there.isDirectory) throw Object.assign(new Error(), { code: 'EEXIST' })
    await fs.rm(path)
  }
  await fs.symlink(target, path)
}
