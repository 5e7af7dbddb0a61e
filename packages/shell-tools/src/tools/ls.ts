import type { Facts, FileFacts, Invocation, ListedEntry, Tool } from '../contract.ts'
import { pathOf, wordsOf } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { workAhead } from './ahead.ts'
import { parseArguments } from '../options.ts'
import { modeText } from './find/format.ts'
import { typeOf } from './find/tests.ts'
import { compareBytes } from './sort.ts'

export const lsOptions = {
  flags: '1aAdrtSRFpUlhLNkmGo',
  long: [
    'all',
    'almost-all',
    'directory',
    'reverse',
    'recursive',
    'classify',
    'human-readable',
    'dereference',
    'group-directories-first',
    'color=?',
  ],
}

const longNames: Readonly<Record<string, string>> = {
  all: 'a',
  'almost-all': 'A',
  directory: 'd',
  reverse: 'r',
  recursive: 'R',
  classify: 'F',
  'human-readable': 'h',
  dereference: 'L',
  'group-directories-first': 'g',
}

interface Item {
  readonly shown: string
  readonly path: string
  readonly stat: FileFacts
  readonly target?: string | undefined
  readonly leadsTo?: FileFacts | undefined
}

export const ls: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(lsOptions, call.given)
  const flags = new Set<string>()
  for (const { name, value } of options) {
    if (name === '--color') {
      if (value !== undefined && value !== 'auto' && value !== 'never')
        call.host.refuse('ls --color', 'output has no colours here')
    } else flags.add(longNames[name.slice(2)] ?? name.slice(1))
  }
  if (flags.has('m')) call.host.refuse('ls -m', 'use -1')
  const lister = new Lister(call, output, flags)
  await lister.run(operands.length === 0 ? ['.'] : operands)
  return output.result()
}

class Lister {
  readonly #call: Invocation
  readonly #output: Output
  readonly #flags: ReadonlySet<string>
  #written = false

  constructor(call: Invocation, output: Output, flags: ReadonlySet<string>) {
    this.#call = call
    this.#output = output
    this.#flags = flags
  }

  async run(operands: readonly string[]): Promise<void> {
    const files: Item[] = []
    const directories: Item[] = []
    const follow = !this.#flags.has('d') && !this.#flags.has('l') && !this.#flags.has('F')
    const asked = operands.map((operand) => ({ operand, size: 0 }))
    const ahead = workAhead(asked, ({ operand }) => this.#look(operand, pathOf(this.#call, operand), { follow }))
    for await (const { item, result } of ahead) {
      try {
        const found = await result
        const opens = found.stat.isDirectory && !this.#flags.has('d')
        ;(opens ? directories : files).push(found)
      } catch (error) {
        this.#output.fail(`ls: cannot access '${item.operand}': ${wordsOf(error)}`, 2)
      }
    }
    if (files.length > 0) this.#show(this.#sorted(files))
    const headed = operands.length > 1 || this.#flags.has('R')
    for (const directory of this.#sorted(directories)) await this.#list(directory, headed)
  }

  get #facts(): Facts {
    const needs = (...flags: string[]) => flags.some((flag) => this.#flags.has(flag))
    // the mode identifies programs, which -F marks
    if (needs('l', 'o', 'G', 't', 'F')) return 'all'
    return needs('S') ? 'size' : 'type'
  }

  async #look(
    shown: string,
    path: string,
    { follow = false, listed }: { readonly follow?: boolean; readonly listed?: ListedEntry } = {},
  ): Promise<Item> {
    const own = listed?.stat ?? (await this.#call.listing.look(path))
    if (!own.isSymbolicLink) return { shown, path, stat: own }
    const leads = follow || this.#flags.has('L') || this.#flags.has('g')
    // a broken link is shown as a link
    const leadsTo = leads ? await this.#call.listing.look(path, { follow: true }).catch(() => undefined) : undefined
    if (this.#flags.has('L') || (follow && leadsTo?.isDirectory === true)) {
      if (leadsTo !== undefined) return { shown, path, stat: leadsTo }
      if (this.#flags.has('L')) throw Object.assign(new Error(), { code: 'ENOENT' })
    }
    const target = listed?.target ?? (await this.#call.context.fs.readlink(path))
    return { shown, path, stat: own, leadsTo, target }
  }

  async #list(directory: Item, headed: boolean): Promise<void> {
    this.#call.host.check()
    let listed: ListedEntry[]
    try {
      listed = await this.#call.listing.readdirWithStats(directory.path, { facts: this.#facts })
    } catch (error) {
      this.#output.fail(`ls: cannot open directory '${directory.shown}': ${wordsOf(error)}`, 2)
      return
    }
    if (headed) this.#output.write(`${this.#written ? '\n' : ''}${bytesOf(directory.shown)}:\n`)
    this.#written = true
    // The number of blocks is unknown. The line is printed anyway, since scripts skip the first line.
    if (this.#flags.has('l')) this.#output.write('total ?\n')
    const items = await this.#itemsOf(directory, listed)
    const sorted = this.#sorted(items)
    this.#show(sorted)
    if (!this.#flags.has('R')) return
    for (const item of sorted) {
      if (!item.stat.isDirectory || item.shown === '.' || item.shown === '..') continue
      const shown = directory.shown.endsWith('/') ? directory.shown + item.shown : `${directory.shown}/${item.shown}`
      await this.#list({ ...item, shown }, true)
    }
  }

  async #itemsOf(directory: Item, listed: readonly ListedEntry[]): Promise<Item[]> {
    const all = this.#flags.has('a')
    const wanted = all || this.#flags.has('A') ? listed : listed.filter(({ name }) => !name.startsWith('.'))
    const items: Item[] = []
    if (all) {
      const itself = { ...directory, shown: '.' }
      const above = pathOf(this.#call, `${directory.path}/..`)
      // `..` is a directory, so its type needs no request
      items.push(itself, this.#facts === 'type' ? { ...itself, shown: '..' } : await this.#look('..', above))
    }
    const below = wanted.map((entry) => ({
      entry,
      path: pathOf(this.#call, `${directory.path}/${entry.name}`),
      size: 0,
    }))
    const ahead = workAhead(below, ({ entry, path }) => this.#look(entry.name, path, { listed: entry }))
    for await (const { result } of ahead) items.push(await result)
    return items
  }

  #sorted(items: readonly Item[]): Item[] {
    const flags = this.#flags
    if (flags.has('U')) return [...items]
    const byName = (left: Item, right: Item) => compareBytes(bytesOf(left.shown), bytesOf(right.shown))
    const order = (left: Item, right: Item): number => {
      if (flags.has('S')) return this.#size(right) - this.#size(left) || byName(left, right)
      if (flags.has('t')) return right.stat.mtime.getTime() - left.stat.mtime.getTime() || byName(left, right)
      return byName(left, right)
    }
    if (flags.has('t')) this.#refuseEqualTimes(items)
    const sorted = [...items].sort(order)
    if (flags.has('r')) sorted.reverse()
    if (!flags.has('g')) return sorted
    const leads = ({ stat, leadsTo }: Item) => stat.isDirectory || leadsTo?.isDirectory === true
    return [...sorted.filter(leads), ...sorted.filter((item) => !leads(item))]
  }

  #size(item: Item): number {
    if (item.stat.isDirectory) this.#call.host.refuse('ls -S', "a directory's size is not known here; name the files")
    return item.target === undefined ? item.stat.size : Buffer.byteLength(item.target)
  }

  /** Refuses equal times: times have only milliseconds, so an order of these files would be a guess. */
  #refuseEqualTimes(items: readonly Item[]): void {
    const times = new Set<number>()
    for (const { stat, shown } of items) {
      const time = stat.mtime.getTime()
      if (time === 0 || times.has(Math.floor(time)))
        this.#call.host.refuse('ls -t', `the time of \`${shown}\` is not known exactly enough to sort by it`)
      times.add(Math.floor(time))
    }
  }

  #show(items: readonly Item[]): void {
    this.#written = true
    const long = this.#flags.has('l') || this.#flags.has('o') || this.#flags.has('G')
    const lines = items.map((item) => this.#mark(item, long))
    if (!long) {
      for (const line of lines) this.#output.write(bytesOf(`${line}\n`))
      return
    }
    if (this.#flags.has('o') || this.#flags.has('G')) this.#call.host.refuse('ls -o', 'use ls -l')
    const sizes = items.map((item) => this.#sizeText(item))
    const width = Math.max(...sizes.map((size) => size.length))
    const times = items.map(({ stat }) => (stat.mtime.getTime() === 0 ? '?' : timeText(stat.mtime)))
    const timeWidth = Math.max(...times.map((time) => time.length))
    items.forEach((item, index) => {
      const { stat } = item
      const arrow = item.target === undefined ? '' : ` -> ${item.target}`
      this.#output.write(
        bytesOf(
          `${modeText(typeOf(stat), stat.mode)} ${stat.isDirectory ? '?' : '1'} user user ${(sizes[index] ?? '').padStart(width)} ${(times[index] ?? '').padStart(timeWidth)} ${lines[index]}${arrow}\n`,
        ),
      )
    })
  }

  #mark({ shown, stat }: Item, long: boolean): string {
    if (this.#flags.has('F')) {
      if (stat.isDirectory) return `${shown}/`
      if (stat.isSymbolicLink) return long ? shown : `${shown}@`
      return stat.isFile && (stat.mode & 0o111) !== 0 ? `${shown}*` : shown
    }
    return this.#flags.has('p') && stat.isDirectory ? `${shown}/` : shown
  }

  /** The size, or `?` for a directory, whose size depends on the store. GNU's `ls` prints `?` for unknown values. */
  #sizeText(item: Item): string {
    if (item.stat.isDirectory) return '?'
    const size = item.target === undefined ? item.stat.size : Buffer.byteLength(item.target)
    return this.#flags.has('h') ? humanSize(size) : String(size)
  }
}

/** The size as with GNU's `-h`: rounded up, with a fraction below 10. */
export function humanSize(size: number): string {
  if (size < 1024) return String(size)
  let value = size
  let unit = 0
  while (value >= 1024 && unit < 8) {
    value /= 1024
    unit++
  }
  let text = value < 10 ? (Math.ceil(value * 10) / 10).toFixed(1) : String(Math.ceil(value))
  if (text === '10.0') text = '10'
  if (text === '1024') return `1.0${'KMGTPEZY'[unit] ?? ''}`
  return text + ('KMGTPEZY'[unit - 1] ?? '')
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
/** Milliseconds of half a Gregorian year. Older times are shown with their year. */
const recent = 31_556_952_000 / 2

function timeText(time: Date): string {
  const age = Date.now() - time.getTime()
  const day = String(time.getDate()).padStart(2)
  const two = (value: number) => String(value).padStart(2, '0')
  const clock =
    age >= 0 && age < recent ? `${two(time.getHours())}:${two(time.getMinutes())}` : ` ${time.getFullYear()}`
  return `${months[time.getMonth()]} ${day} ${clock}`
}
