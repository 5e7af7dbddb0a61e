import type { Invocation, Tool } from '../contract.ts'
import { pathOf, wordsOf } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { parseArguments } from '../options.ts'
import { childOf } from '../paths.ts'
import { codeOf } from '../errors.ts'

export const mktempOptions = {
  flags: 'duqt',
  valued: 'p',
  long: ['directory', 'dry-run', 'quiet', 'suffix=', 'tmpdir=?'],
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const tries = 100

/** Makes a file or directory that only its owner can open, where the store keeps modes. */
export const mktemp: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(mktempOptions, call.given)
  const has = (...names: string[]) => options.some(({ name }) => names.includes(name))
  const valueOf = (...names: string[]) => options.findLast(({ name }) => names.includes(name))?.value
  if (operands.length > 1) output.fail('mktemp: too many templates')
  const template = operands[0] ?? 'tmp.XXXXXXXXXX'
  const suffix = valueOf('--suffix') ?? ''
  const [, start = '', marks = '', end = ''] = /^(.*?)(X{3,})([^X/]*)$/s.exec(template) ?? []
  if (marks === '') output.fail(`mktemp: too few X's in template '${template}'`)
  else if (end !== '' && suffix !== '') output.fail(`mktemp: with --suffix, template '${template}' must end in X`)
  else if (suffix.includes('/')) output.fail(`mktemp: invalid suffix '${suffix}', contains directory separator`)
  const below = has('-p', '--tmpdir') || has('-t') || operands.length === 0
  if (below && (template.startsWith('/') || (has('-t') && template.includes('/'))))
    output.fail(`mktemp: invalid template, '${template}', contains directory separator`)
  if (output.exitCode !== 0) return output.result()
  const given = valueOf('-p', '--tmpdir') ?? ''
  const directory = given === '' ? (call.context.env.get('TMPDIR') ?? '') || '/tmp' : given
  const isDirectory = has('-d', '--directory')
  for (let left = tries; left > 0; left--) {
    const random = [...marks].map(() => letters[Math.floor(Math.random() * letters.length)]).join('')
    const name = `${start}${random}${end}${suffix}`
    const shown = below ? childOf(directory, name) : name
    try {
      if (!(await make(call, shown, { isDirectory, dry: has('-u', '--dry-run') }))) continue
      output.write(bytesOf(`${shown}\n`))
      return output.result()
    } catch (error) {
      const kind = isDirectory ? 'directory' : 'file'
      output.exitCode = 1
      if (!has('-q', '--quiet'))
        output.fail(
          `mktemp: failed to create ${kind} via template '${below ? childOf(directory, template) : template}${suffix}': ${wordsOf(error)}`,
        )
      return output.result()
    }
  }
  output.fail(`mktemp: every name for '${template}' is taken`)
  return output.result()
}

/** Makes the entry. Returns false if the name exists already. */
async function make(
  call: Invocation,
  shown: string,
  { isDirectory, dry }: { readonly isDirectory: boolean; readonly dry: boolean },
): Promise<boolean> {
  const { fs } = call.context
  const path = pathOf(call, shown)
  const there = await fs.lstat(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
      return false
    },
  )
  if (there) return false
  if (dry) return true
  if (isDirectory) await fs.mkdir(path)
  else await fs.writeFile(path, '')
  await setMode(call, path, isDirectory ? 0o700 : 0o600)
  return true
}

/** Sets a mode. Ignores the error of a store without modes: the file exists anyway. */
async function setMode(call: Invocation, path: string, mode: number): Promise<void> {
  const files = call.context.fs as Invocation['context']['fs'] & {
    chmodIfKept?(path: string, mode: number): Promise<void>
  }
  await (files.chmodIfKept?.(path, mode) ?? files.chmod(path, mode))
}
