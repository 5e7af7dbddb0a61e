import type { Invocation, Tool } from '../contract.ts'
import { pathOf, wordsOf } from '../operands.ts'
import { Output } from '../output.ts'
import { isFileError } from '../errors.ts'
import { childOf } from '../paths.ts'

const bits: Readonly<Record<string, number>> = { r: 4, w: 2, x: 1 }
const shifts: Readonly<Record<string, number>> = { u: 6, g: 3, o: 0 }
/** Bits removed from the mode of a new file, and for `+w` without a class of users. */
const umask = 0o022

export const chmod: Tool = async (call) => {
  const output = new Output()
  const words: string[] = []
  let recursive = false
  let ended = false
  for (const word of call.given) {
    if (!ended && word === '--') ended = true
    // `-x` and `-rw` are modes, not options.
    else if (!ended && /^-(?:R+|-recursive)$/.test(word)) recursive = true
    else if (!ended && /^-[^rwxXugoa=+-]|^--/.test(word))
      call.host.refuse(`chmod ${word}`, 'use it without options but -R')
    else words.push(word)
  }
  const [mode, ...operands] = words
  if (mode === undefined) output.fail('chmod: missing operand')
  else if (operands.length === 0) output.fail(`chmod: missing operand after '${mode}'`)
  else if (/[st]|^[0-7]*[1-7][0-7]{3}$/.test(mode))
    call.host.refuse(`chmod ${mode}`, 'setuid, setgid and sticky bits are not known here')
  else if (changed(mode, 0, false) === undefined) output.fail(`chmod: invalid mode: '${mode}'`)
  if (output.exitCode !== 0 || mode === undefined) return output.result()
  for (const operand of operands) await change(call, operand, { mode, recursive, output })
  return output.result()
}

interface Change {
  readonly mode: string
  readonly recursive: boolean
  readonly output: Output
}

async function change(call: Invocation, shown: string, how: Change): Promise<void> {
  const { fs } = call.context
  call.host.check()
  try {
    const path = pathOf(call, shown)
    const { mode, isDirectory } = await fs.stat(path)
    const wanted = changed(how.mode, mode & 0o777, isDirectory) ?? mode
    if (isDirectory && (wanted & 0o700) !== 0o700)
      call.host.refuse(`chmod ${how.mode} ${shown}`, 'files could be made and removed in it all the same')
    await fs.chmod(path, wanted)
    if (!how.recursive || !isDirectory) return
    for (const name of await fs.readdir(path)) {
      const child = childOf(shown, name)
      // Links found below a directory stay unchanged.
      if (!(await fs.lstat(pathOf(call, child))).isSymbolicLink) await change(call, child, how)
    }
  } catch (error) {
    if (!isFileError(error)) throw error
    const words = wordsOf(error)
    how.output.fail(
      `chmod: ${words === 'No such file or directory' ? 'cannot access' : 'changing permissions of'} '${shown}': ${words}`,
    )
  }
}

/** Applies a mode's text to a mode; `undefined` for invalid text. */
function changed(text: string, mode: number, isDirectory: boolean): number | undefined {
  if (/^[0-7]{1,4}$/.test(text)) return Number.parseInt(text, 8)
  let now = mode
  for (const clause of text.split(',')) {
    const [, who = '', operations = ''] = /^([ugoa]*)((?:[-+=](?:[ugo]|[rwxX]*))+)$/.exec(clause) ?? []
    if (operations === '') return undefined
    const whose = who === '' || who.includes('a') ? 'ugo' : who
    for (const [, operator = '', what = ''] of operations.matchAll(/([-+=])([ugo]|[rwxX]*)/g)) {
      const own = shifts[what] === undefined ? valueOf(what, now, isDirectory) : (now >> shifts[what]) & 7
      const amount = [...whose].reduce((sum, one) => sum | (own << (shifts[one] ?? 0)), 0)
      const given = who === '' ? amount & ~umask : amount
      if (operator === '+') now |= given
      else if (operator === '-') now &= ~given
      else now = (now & ~[...whose].reduce((sum, one) => sum | (7 << (shifts[one] ?? 0)), 0)) | given
    }
  }
  return now
}

function valueOf(letters: string, mode: number, isDirectory: boolean): number {
  const value = [...letters].reduce((sum, letter) => sum | (bits[letter] ?? 0), 0)
  return letters.includes('X') && (isDirectory || (mode & 0o111) !== 0) ? value | 1 : value
}
