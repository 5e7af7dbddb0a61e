import type { Invocation, Tool } from '../../contract.ts'
import { pathOf, readOperand, standardInput, wordsOf } from '../../operands.ts'
import { bytesOf, Output } from '../../output.ts'
import { type Arguments, parseArguments } from '../../options.ts'
import { isFileError } from '../../errors.ts'
import { changesOf } from './compare.ts'
import { normal, unified } from './format.ts'

export const diffOptions = {
  flags: 'qru',
  valued: 'U',
  long: ['brief', 'recursive', 'unified=?', 'label='],
}

/** GNU's `diff` treats a file with a NUL in these bytes as binary. */
const lookedAt = 4096
const deepest = 100

interface File {
  readonly name: string
  readonly kind: 'directory' | 'file' | 'input'
  readonly size: number
  readonly time: number
}

/** Compares files, unless several shortest differences exist: GNU's choice among these is not certain. */
export const diff: Tool = async (call) => {
  const output = new Output()
  const parsed = parseArguments(diffOptions, call.given)
  const { operands } = parsed
  const [left, right, extra] = operands
  const problem =
    left === undefined || right === undefined
      ? `missing operand after '${left ?? 'diff'}'`
      : extra === undefined
        ? undefined
        : `extra operand '${extra}'`
  if (problem !== undefined || left === undefined || right === undefined) {
    output.fail(`diff: ${problem}\ndiff: Try 'diff --help' for more information.`, 2)
    return output.result()
  }
  await new Comparison(call, output, parsed).operands(left, right)
  return output.result()
}

class Comparison {
  readonly #call: Invocation
  readonly #output: Output
  readonly #brief: boolean
  readonly #recursive: boolean
  /** `undefined` for the normal format. */
  readonly #context: number | undefined
  readonly #labels: readonly string[]
  /** The options, in the form that GNU's `diff` prints for each file of a directory. */
  readonly #switches: string

  constructor(call: Invocation, output: Output, { options }: Arguments) {
    const has = (...names: string[]): boolean => options.some(({ name }) => names.includes(name))
    const contexts = options.flatMap(({ name, value }) =>
      name === '-u' || name === '-U' || name === '--unified' ? [value ?? '3'] : [],
    )
    const odd = contexts.find((value) => !/^\d{1,6}$/.test(value))
    if (odd !== undefined) call.host.refuse('diff -U', `'${odd}' is not a number of lines`)
    this.#call = call
    this.#output = output
    this.#brief = has('-q', '--brief')
    this.#recursive = has('-r', '--recursive')
    this.#context = contexts.length === 0 ? undefined : Math.max(...contexts.map(Number))
    this.#labels = options.flatMap(({ name, value = '' }) => (name === '--label' ? [value] : []))
    this.#switches = ['diff', ...call.given.filter((word) => /^-./.test(word))].join(' ')
  }

  async operands(left: string, right: string): Promise<void> {
    const [a, b] = [await this.#look(left), await this.#look(right)]
    if (a === undefined || b === undefined) return
    if (a.kind === b.kind || (a.kind !== 'directory' && b.kind !== 'directory')) return this.#pair(a, b, 0)
    if (a.kind === 'input' || b.kind === 'input') {
      this.#output.fail(`diff: cannot compare '-' to a directory`, 2)
      return
    }
    const [directory, file] = a.kind === 'directory' ? [a, b] : [b, a]
    const below = await this.#look(joined(directory.name, file.name.replace(/^.*\/(?=[^/])/s, '')))
    if (below !== undefined) await (directory === a ? this.#pair(below, file, 0) : this.#pair(file, below, 0))
  }

  /** The kind and facts of an operand; `undefined` after reporting a missing operand. */
  async #look(name: string): Promise<File | undefined> {
    if (name === '-') return { name, kind: 'input', size: 0, time: Date.now() }
    return this.#orTold(name, async (path) => {
      const { isDirectory, size, mtime } = await this.#call.context.fs.stat(path)
      return { name, kind: isDirectory ? 'directory' : 'file', size, time: mtime.getTime() }
    })
  }

  /** The result of `ask`; `undefined` after reporting a file error. */
  async #orTold<Answer>(name: string, ask: (path: string) => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await ask(pathOf(this.#call, name))
    } catch (error) {
      if (!isFileError(error)) throw error
      this.#output.fail(`diff: ${name}: ${wordsOf(error)}`, 2)
      return undefined
    }
  }

  async #pair(a: File, b: File, depth: number): Promise<void> {
    this.#call.host.check()
    if (await this.#areOne(a, b)) return
    if (a.kind === 'directory' && b.kind === 'directory') {
      if (depth === 0 || this.#recursive) await this.#directories(a, b, depth)
      else this.#output.write(bytesOf(`Common subdirectories: ${a.name} and ${b.name}\n`))
    } else if (a.kind === 'directory' || b.kind === 'directory') {
      const kind = (file: File) =>
        file.kind === 'directory' ? 'directory' : file.size === 0 ? 'regular empty file' : 'regular file'
      this.#differ(`File ${a.name} is a ${kind(a)} while file ${b.name} is a ${kind(b)}\n`)
    } else await this.#files(a, b, depth)
  }

  async #areOne(a: File, b: File): Promise<boolean> {
    if (a.kind === 'input' || b.kind === 'input') return a.kind === b.kind
    const { fs } = this.#call.context
    const real = ({ name }: File) => fs.realpath(pathOf(this.#call, name))
    return (await real(a)) === (await real(b))
  }

  async #directories(a: File, b: File, depth: number): Promise<void> {
    const { host } = this.#call
    if (this.#labels.length > 0 || this.#call.given.some((word) => /^(?:-[a-z]*U|--.*=)/.test(word)))
      host.refuse('diff', 'directories with a value of an option; use -u without one')
    if (depth > deepest) host.refuse('diff -r', `'${a.name}' is too deep`)
    const [left, right] = [await this.#names(a), await this.#names(b)]
    if (left === undefined || right === undefined) return
    const order = (one: string, other: string) =>
      Buffer.compare(Buffer.from(bytesOf(one), 'latin1'), Buffer.from(bytesOf(other), 'latin1'))
    for (const name of [...new Set([...left, ...right])].sort(order)) {
      if (!left.has(name) || !right.has(name)) {
        this.#differ(`Only in ${left.has(name) ? a.name : b.name}: ${name}\n`)
        continue
      }
      const [below, beside] = [await this.#look(joined(a.name, name)), await this.#look(joined(b.name, name))]
      if (below !== undefined && beside !== undefined) await this.#pair(below, beside, depth + 1)
    }
  }

  #names({ name }: File): Promise<ReadonlySet<string> | undefined> {
    return this.#orTold(name, async (path) => new Set(await this.#call.context.fs.readdir(path)))
  }

  async #files(a: File, b: File, depth: number): Promise<void> {
    const [left, right] = [await this.#read(a), await this.#read(b)]
    if (left === undefined || right === undefined || left === right) return
    if (this.#brief) return this.#differ(`Files ${a.name} and ${b.name} differ\n`)
    const { host } = this.#call
    const isBinary = [left, right].some((bytes) => bytes.slice(0, lookedAt).includes('\0'))
    if (isBinary) return this.#differ(`Binary files ${a.name} and ${b.name} differ\n`)
    if (left.includes('\0') || right.includes('\0')) host.refuse('diff', 'a NUL far inside of a file; use diff -q')
    const [before, after] = [linesOf(left), linesOf(right)]
    const changes = changesOf(before, after)
    if (changes === undefined)
      return host.refuse(
        'diff',
        `${a.name} and ${b.name} are large, or differ in several equally short ways; use diff -q, comm or grep -n`,
      )
    const heading = depth === 0 ? '' : `${this.#switches} ${this.#shown(a.name)} ${this.#shown(b.name)}\n`
    if (this.#context === undefined) this.#differ(heading, normal(before, after, changes))
    else {
      const header = `--- ${this.#titleOf(a, 0)}\n+++ ${this.#titleOf(b, 1)}\n`
      this.#differ(heading + header, unified(before, after, changes, this.#context))
    }
  }

  async #read({ kind, name }: File): Promise<string | undefined> {
    return this.#orTold(name, async () =>
      kind === 'input' ? standardInput(this.#call) : readOperand(this.#call, name),
    )
  }

  #differ(text: string, bytes = ''): void {
    this.#output.write(bytesOf(text) + bytes)
    this.#output.exitCode = Math.max(this.#output.exitCode, 1)
  }

  /** Name and time in a header. The shell's time zone is UTC. */
  #titleOf({ name, time }: File, index: number): string {
    const label = this.#labels[index]
    if (label !== undefined) return label
    const { host, context } = this.#call
    if (time === 0 || !/^(?:|UTC0?)$/.test(context.env.get('TZ') ?? ''))
      host.refuse('diff -u', `the time of '${name}' is not known in this form; give --label twice`)
    return `${this.#shown(name)}\t${new Date(time).toISOString().replace('T', ' ').replace('Z', '000000')} +0000`
  }

  #shown(name: string): string {
    if (!/^[\w./+@%,=: -]+$/.test(name))
      this.#call.host.refuse('diff', `the name '${name}' would be written with escapes; copy the file to a plain name`)
    return name.includes(' ') ? `"${name}"` : name
  }
}

function joined(directory: string, name: string): string {
  return directory.endsWith('/') ? `${directory}${name}` : `${directory}/${name}`
}

/** Lines with their newlines: an unterminated last line differs from the same line with a newline. */
function linesOf(bytes: string): string[] {
  return bytes.match(/[^\n]*\n|[^\n]+$/g) ?? []
}
