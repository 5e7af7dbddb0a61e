import type { Invocation, Tool } from '../../contract.ts'
import { pathOf, readOperand, wordsOf } from '../../operands.ts'
import { bytesOf, Output } from '../../output.ts'
import { decodeText } from '../../text.ts'
import { parseArguments } from '../../options.ts'
import { Endless, type Lines, Machine } from './machine.ts'
import { parseScript } from './parser.ts'
import { ScriptProblem } from './script.ts'

export const sedOptions = {
  flags: 'nrEsu',
  valued: 'ef',
  long: ['regexp-extended', 'quiet', 'silent', 'expression=', 'file=', 'in-place=?', 'separate', 'unbuffered'],
}

/** GNU's sed. Refuses the whole command if a part is unknown, before any file changes. */
export const sed: Tool = async (call) => {
  const output = new Output({ late: true })
  // The value of -i is optional, and part of the same word.
  const split = call.given.flatMap((word) => {
    if (word.startsWith('-i')) return [`--in-place=${word.slice(2)}`]
    return /^-[nrEsu]+i$/.test(word) ? [word.slice(0, -1), '--in-place='] : [word]
  })
  const { options, operands, unknown } = parseArguments(sedOptions, split)
  if (unknown !== undefined) call.host.refuse(`sed ${unknown}`, 'use -n -r -E -i -s -e -f')
  const has = (...names: string[]) => options.some(({ name }) => names.includes(name))
  const files = [...operands]
  const scripts: string[] = []
  for (const { name, value = '' } of options) {
    if (name === '-e' || name === '--expression') scripts.push(value)
    else if (name === '-f' || name === '--file')
      scripts.push(decodeText(Buffer.from(await readOperand(call, value), 'latin1')).replace(/\n$/, ''))
  }
  if (scripts.length === 0 && !has('-f', '--file')) {
    const script = files.shift()
    if (script === undefined) {
      output.fail('Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...')
      return output.result()
    }
    scripts.push(script)
  }
  const inPlace = options.find(({ name }) => name === '--in-place')
  try {
    const commands = parseScript(scripts.join('\n'), has('-r', '-E', '--regexp-extended'))
    const quiet = has('-n', '--quiet', '--silent')
    const machine = new Machine(commands, { quiet, mostJumps: call.context.limits.maxSedIterations })
    if (inPlace !== undefined) await edit(call, files, { machine, suffix: inPlace.value ?? '', output })
    else await stream(call, files, { machine, separate: has('-s', '--separate'), output })
  } catch (error) {
    if (error instanceof ScriptProblem || error instanceof Endless) call.host.refuse('sed', error.message)
    throw error
  }
  return output.result()
}

interface Run {
  readonly machine: Machine
  readonly output: Output
}

async function linesOfFile(call: Invocation, file: string, output: Output): Promise<Lines | undefined> {
  try {
    const text = decodeText(Buffer.from(await readOperand(call, file), 'latin1'))
    const all = text.split('\n')
    const closed = all.at(-1) === ''
    if (closed) all.pop()
    return { all, closed }
  } catch (error) {
    const words = wordsOf(error)
    output.fail(
      words === 'Is a directory'
        ? `sed: couldn't edit ${file}: not a regular file`
        : `sed: can't read ${file}: ${words}`,
      words === 'Is a directory' ? 4 : 2,
    )
    return undefined
  }
}

async function stream(
  call: Invocation,
  files: readonly string[],
  { machine, separate, output }: Run & { readonly separate: boolean },
): Promise<void> {
  const read: Lines[] = []
  for (const file of files.length === 0 ? ['-'] : files) {
    const lines = await linesOfFile(call, file, output)
    if (lines !== undefined) read.push(lines)
  }
  const parts = separate ? read : [joined(read)]
  for (const lines of parts) {
    if (separate) machine.restart()
    output.write(bytesOf(machine.run(lines)))
    if (machine.exitCode === undefined) continue
    output.exitCode = Math.max(output.exitCode, machine.exitCode)
    return
  }
}

/** Joins all files, with newlines between them. */
function joined(read: readonly Lines[]): Lines {
  const used = read.filter(({ all }) => all.length > 0)
  return { all: used.flatMap(({ all }) => all), closed: used.at(-1)?.closed ?? true }
}

async function edit(
  call: Invocation,
  files: readonly string[],
  { machine, suffix, output }: Run & { readonly suffix: string },
): Promise<void> {
  const { fs } = call.context
  if (/[/*]/.test(suffix)) call.host.refuse('sed -i', `the suffix \`${suffix}\``)
  if (files.length === 0) output.fail('sed: no input files')
  for (const file of files) {
    const lines = await linesOfFile(call, file, output)
    if (lines === undefined) continue
    const path = pathOf(call, file)
    if ((await fs.lstat(path)).isSymbolicLink)
      call.host.refuse('sed -i', `\`${file}\` is a link, which GNU's sed makes into a file`)
    machine.restart()
    const edited = bytesOf(machine.run(lines))
    try {
      if (suffix !== '') await fs.cp(path, path + suffix)
      await fs.writeFile(path, Buffer.from(edited, 'latin1'))
    } catch (error) {
      output.fail(`sed: couldn't edit ${file}: ${wordsOf(error)}`, 4)
    }
    if (machine.exitCode === undefined) continue
    call.host.refuse('sed -i', '`q`, which would leave out the rest of the file')
  }
}
