import type { FileFacts, Invocation, ListedEntry, Tool } from '../../contract.ts'
import { linesOf, pathOf, readOperand, wordsOf } from '../../operands.ts'
import { bytesOf, Output } from '../../output.ts'
import { workAhead } from '../ahead.ts'
import { isFileError } from '../../errors.ts'
import { decodeText, hasForeignBytes } from '../../text.ts'
import { type GrepOptions, grepOptionsOf } from './options.ts'

export function grepWith(preset: readonly string[]): Tool {
  return async (call) => {
    const output = new Output()
    const options = await grepOptionsOf(call, preset)
    if (typeof options === 'string') {
      output.fail(options, 2)
      return output.result()
    }
    const search = new Search(call, output, options)
    await search.run()
    return output.result()
  }
}

/** A file to search, or the error of an operand. */
type Wanted = { readonly shown: string; readonly named: boolean; readonly size?: number | undefined } & (
  | { readonly path: string }
  | { readonly path?: undefined; readonly words: string }
)

/** A size above every limit, for standard input: it is read only in its turn, since its bytes cannot be put back. */
const whole = 2 ** 30

type Read = { readonly bytes: string } | { readonly words: string }

class Search {
  readonly #call: Invocation
  readonly #output: Output
  readonly #options: GrepOptions
  #found = false
  #failed = false
  #written = false

  constructor(call: Invocation, output: Output, options: GrepOptions) {
    this.#call = call
    this.#output = output
    this.#options = options
  }

  async run(): Promise<void> {
    const { flags, files } = this.#options
    const recursive = flags.has('r') || flags.has('R')
    const operands = files.length > 0 ? files : recursive ? [''] : ['-']
    for await (const { item, result } of workAhead(this.#wanted(operands, recursive), (one) => this.#read(one))) {
      if (this.#found && flags.has('q')) break
      const read = await result
      if ('words' in read) this.#fail(item.shown, read.words)
      else this.#file(read.bytes, item)
    }
    const { exitCode } = this.#output
    const code = this.#found && (flags.has('q') || !this.#failed) ? 0 : this.#failed ? 2 : 1
    this.#output.exitCode = Math.max(code, exitCode > 2 ? exitCode : 0)
  }

  async *#wanted(operands: readonly string[], recursive: boolean): AsyncGenerator<Wanted, undefined> {
    const { flags, files } = this.#options
    // Lines of a single named file are printed without its name, also with `-r`.
    const named = (flags.has('H') || files.length > 1) && !flags.has('h')
    for (const operand of operands) {
      if (operand === '-') yield { path: '-', shown: '-', named, size: whole }
      else if (recursive) yield* this.#walk(operand, named, operand === '')
      else if (operand === '') yield { shown: '', words: 'No such file or directory', named }
      else if (this.#options.includes(nameOf(operand))) yield { path: operand, shown: operand, named }
    }
    return undefined
  }

  #fail(shown: string, words: string): void {
    this.#failed = true
    if (!this.#options.flags.has('s')) this.#output.note(`grep: ${shown}: ${words}\n`)
  }

  async *#walk(operand: string, named: boolean, current: boolean): AsyncGenerator<Wanted, undefined> {
    const path = current ? this.#call.context.cwd : pathOf(this.#call, operand)
    let stat: FileFacts
    try {
      stat = await this.#call.listing.look(path, { follow: true })
    } catch (error) {
      yield { shown: operand, words: wordsOf(error), named }
      return undefined
    }
    if (!stat.isDirectory) {
      if (this.#options.includes(nameOf(operand))) yield { path: operand, shown: operand, named }
    } else if (current || this.#options.entersDirectory(nameOf(operand)))
      yield* this.#directory(path, operand, !this.#options.flags.has('h'), [])
    return undefined
  }

  async *#directory(
    path: string,
    shown: string,
    named: boolean,
    above: readonly string[],
  ): AsyncGenerator<Wanted, undefined> {
    const { fs } = this.#call.context
    const follows = this.#options.flags.has('R')
    this.#call.host.check()
    let listed: ListedEntry[]
    try {
      listed = await this.#call.listing.readdirWithStats(path, { facts: 'type' })
    } catch (error) {
      yield { shown, words: wordsOf(error), named }
      return undefined
    }
    for (const entry of listed) {
      const { name } = entry
      const below = path.endsWith('/') ? path + name : `${path}/${name}`
      const label = shown === '' ? name : shown.endsWith('/') ? shown + name : `${shown}/${name}`
      try {
        const own = entry.stat ?? (await this.#call.listing.look(below))
        if (own.isSymbolicLink && !follows) continue
        const stat = own.isSymbolicLink ? await this.#call.listing.look(below, { follow: true }) : own
        if (stat.isDirectory) {
          if (!this.#options.entersDirectory(name)) continue
          const real = follows ? await fs.realpath(below) : ''
          if (own.isSymbolicLink && above.includes(real))
            this.#call.host.refuse('grep -R', 'links that lead in a circle')
          yield* this.#directory(below, label, named, [...above, real])
        } else if (stat.isFile && this.#options.includes(name))
          yield { path: below, shown: label, named, size: Number.isNaN(stat.size) ? undefined : stat.size }
      } catch (error) {
        if (!isFileError(error)) throw error
        yield { shown: label, words: wordsOf(error), named }
      }
    }
    return undefined
  }

  async #read(wanted: Wanted): Promise<Read> {
    if (wanted.path === undefined) return { words: wanted.words }
    try {
      return { bytes: await readOperand(this.#call, wanted.path) }
    } catch (error) {
      if (!isFileError(error)) throw error
      return { words: wordsOf(error) }
    }
  }

  #file(bytes: string, { shown, named }: Wanted): void {
    const label = shown === '-' ? '(standard input)' : shown
    const text = decodeText(Buffer.from(bytes, 'latin1'))
    const { flags } = this.#options
    const binary = bytes.includes('\0') && !flags.has('a')
    if (binary && flags.has('I')) return
    if (flags.has('P') && hasForeignBytes(text)) this.#call.host.refuse('grep', `\`${label}\` is not UTF-8`)
    this.#lines(linesOf(binary ? text.replaceAll('\0', '\n') : text), { label, named, binary })
  }

  #lines(
    lines: readonly string[],
    { label, named, binary }: { readonly label: string; readonly named: boolean; readonly binary: boolean },
  ): void {
    const { flags, before, after, most } = this.#options
    const prefix = (separator: string, number: number) =>
      `${named ? `${label}${separator}` : ''}${flags.has('n') ? `${number}${separator}` : ''}`
    const write = (line: string) => this.#output.write(bytesOf(`${line}\n`))
    const quiet = ['q', 'l', 'L', 'c'].some((flag) => flags.has(flag))
    let count = 0
    let shownTo = -1
    let trailing = 0
    for (const [index, line] of lines.entries()) {
      if (count >= most && trailing === 0) break
      const selected = count < most && this.#selects(line)
      if (selected) {
        count++
        this.#found ||= !flags.has('L')
        if (flags.has('q') || flags.has('l') || flags.has('L') || (binary && !flags.has('c'))) break
        if (quiet) continue
        const from = Math.max(shownTo + 1, index - before)
        if (!flags.has('a') && lines.slice(from, index + after + 1).some(hasForeignBytes)) {
          // GNU's grep treats the rest of such a file as binary; the printed context would depend on buffers.
          if (before > 0 || after > 0 || flags.has('o')) this.#call.host.refuse('grep', `\`${label}\` is not UTF-8`)
          this.#output.note(`grep: ${label}: binary file matches\n`)
          return
        }
        if ((before > 0 || after > 0) && this.#written && from > shownTo + 1) write('--')
        else if ((before > 0 || after > 0) && this.#written && shownTo === -1) write('--')
        if (!flags.has('o'))
          for (let earlier = from; earlier < index; earlier++) write(`${prefix('-', earlier + 1)}${lines[earlier]}`)
        if (flags.has('o')) for (const match of this.#matches(line)) write(`${prefix(':', index + 1)}${match}`)
        else write(`${prefix(':', index + 1)}${line}`)
        this.#written = true
        shownTo = index
        trailing = after
      } else if (trailing > 0) {
        trailing--
        if (quiet) continue
        if (!flags.has('o')) write(`${prefix('-', index + 1)}${line}`)
        shownTo = index
      }
    }
    if (flags.has('q')) return
    if (flags.has('l') && count > 0) write(label)
    else if (flags.has('L') && count === 0) {
      this.#found = true
      write(label)
    } else if (flags.has('c') && !flags.has('l') && !flags.has('L')) write(`${named ? `${label}:` : ''}${count}`)
    else if (binary && count > 0 && !flags.has('l') && !flags.has('L'))
      this.#output.note(`grep: ${label}: binary file matches\n`)
  }

  #selects(line: string): boolean {
    const found = this.#options.patterns.some((pattern) => {
      pattern.lastIndex = 0
      return pattern.test(line)
    })
    return found !== this.#options.flags.has('v')
  }

  #matches(line: string): string[] {
    const { patterns, flags } = this.#options
    if (flags.has('v')) return []
    const matches: string[] = []
    for (let place = 0; place <= line.length; ) {
      let best: { readonly at: number; readonly text: string } | undefined
      for (const pattern of patterns) {
        pattern.lastIndex = place
        const match = pattern.exec(line)
        if (match === null) continue
        if (
          best === undefined ||
          match.index < best.at ||
          (match.index === best.at && match[0].length > best.text.length)
        )
          best = { at: match.index, text: match[0] }
      }
      if (best === undefined) break
      if (best.text !== '') matches.push(best.text)
      place = best.at + Math.max(best.text.length, 1)
    }
    return matches
  }
}

function nameOf(operand: string): string {
  return operand.replace(/\/+$/, '').split('/').at(-1) ?? ''
}
