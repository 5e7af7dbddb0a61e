import type { Address, Command } from './script.ts'
import { substitute } from './substitute.ts'

/** Lines of a file. `closed`: the last line has a newline. */
export interface Lines {
  readonly all: readonly string[]
  readonly closed: boolean
}

export class Endless extends Error {}

/** Runs a script over lines, one input after another. */
export class Machine {
  readonly #commands: readonly Command[]
  readonly #quiet: boolean
  readonly #mostJumps: number
  readonly #open = new Map<Command, { readonly until: number | undefined }>()
  #hold = ''
  #last: RegExp | undefined
  #number = 0
  exitCode: number | undefined

  constructor(
    commands: readonly Command[],
    { quiet, mostJumps }: { readonly quiet: boolean; readonly mostJumps: number },
  ) {
    this.#commands = commands
    this.#quiet = quiet
    this.#mostJumps = mostJumps
  }

  /** Restarts the line numbers, as for each file edited in place. */
  restart(): void {
    this.#number = 0
    this.#open.clear()
  }

  run({ all, closed }: Lines): string {
    const out: string[] = []
    let at = 0
    let space = ''
    let appended: string[] = []
    let changed = false
    /** The newline of the last line read, if that line has a newline. */
    const lineEnd = () => (at === all.length && !closed ? '' : '\n')
    const print = (text: string, end = '\n') => out.push(text + end)
    const flush = () => {
      for (const text of appended) {
        const before = out.at(-1)
        if (before !== undefined && !before.endsWith('\n')) out.push('\n')
        print(text)
      }
      appended = []
    }
    const isLast = () => at >= all.length
    const finishCycle = () => {
      if (!this.#quiet) print(space, lineEnd())
      flush()
    }
    let keep = false
    cycle: while (at < all.length || keep) {
      if (!keep) {
        space = all[at++] ?? ''
        this.#number++
      }
      keep = false
      changed = false
      let jumps = 0
      for (let place = 0; place < this.#commands.length; place++) {
        const command = this.#commands[place]
        if (command === undefined || command.name === ':') continue
        if (this.#applies(command, space, isLast()) === command.negated) {
          if (command.name === '{') place = (command.end ?? place) - 1
          continue
        }
        switch (command.name) {
          case '{':
            break
          case '=':
            print(String(this.#number))
            break
          case 'd':
            flush()
            continue cycle
          case 'D': {
            const end = space.indexOf('\n')
            flush()
            if (end === -1) continue cycle
            space = space.slice(end + 1)
            keep = true
            continue cycle
          }
          case 'g':
            space = this.#hold
            break
          case 'G':
            space += `\n${this.#hold}`
            break
          case 'h':
            this.#hold = space
            break
          case 'H':
            this.#hold += `\n${space}`
            break
          case 'x':
            ;[space, this.#hold] = [this.#hold, space]
            break
          case 'z':
            space = ''
            break
          case 'n':
            if (isLast()) {
              finishCycle()
              break cycle
            }
            if (!this.#quiet) print(space)
            flush()
            space = all[at++] ?? ''
            this.#number++
            break
          case 'N':
            if (isLast()) {
              finishCycle()
              break cycle
            }
            flush()
            space += `\n${all[at++] ?? ''}`
            this.#number++
            break
          case 'p':
            print(space, lineEnd() === '' ? '\n' : '\n')
            break
          case 'P':
            print(space.split('\n', 1)[0] ?? '')
            break
          case 'q':
            finishCycle()
            this.exitCode = command.code ?? 0
            return out.join('')
          case 'Q':
            this.exitCode = command.code ?? 0
            return out.join('')
          case 'a':
            appended.push(command.text ?? '')
            break
          case 'i':
            print(command.text ?? '')
            break
          case 'c':
            // The text replaces the whole range, so it is printed once, at the end of the range.
            if (command.to === undefined || command.negated || !this.#open.has(command)) print(command.text ?? '')
            flush()
            continue cycle
          case 'y':
            space = [...space].map((character) => command.table?.get(character) ?? character).join('')
            break
          case 's': {
            const replaced = this.#substitute(space, command)
            if (replaced === undefined) break
            space = replaced
            changed = true
            if (command.print === true) print(space)
            break
          }
          default: {
            const jump = command.name === 'b' || (command.name === 't') === changed
            if (command.name !== 'b' && changed) changed = false
            if (!jump) break
            if (++jumps > this.#mostJumps) throw new Endless('more jumps than `limits.maxLoopIterations`')
            if ((command.label ?? '') === '') place = this.#commands.length
            else place = this.#commands.findIndex(({ name, label }) => name === ':' && label === command.label)
          }
        }
      }
      finishCycle()
    }
    return out.join('')
  }

  #applies(command: Command, space: string, last: boolean): boolean {
    const { from, to } = command
    if (from === undefined) return true
    if (to === undefined) return this.#matches(from, space, last)
    const open = this.#open.get(command)
    if (open !== undefined) {
      if (open.until !== undefined) {
        if (this.#number >= open.until) this.#open.delete(command)
        // After a jump beyond the end of a range of numbers, this line is outside of the range.
        return this.#number <= open.until
      }
      if (to.type === 'last' ? last : this.#matches(to, space, last)) this.#open.delete(command)
      return true
    }
    if (!this.#matches(from, space, last)) return false
    const until =
      to.type === 'line'
        ? to.number
        : to.type === 'count'
          ? this.#number + to.number
          : to.type === 'multiple'
            ? (Math.floor(this.#number / Math.max(1, to.number)) + 1) * Math.max(1, to.number)
            : undefined
    if (until === undefined ? !(to.type === 'last' && last) : until > this.#number) this.#open.set(command, { until })
    return true
  }

  #matches(address: Address, space: string, last: boolean): boolean {
    switch (address.type) {
      case 'line':
        return this.#number === address.number
      case 'last':
        return last
      case 'step':
        return address.step === 0
          ? this.#number === address.first
          : this.#number >= address.first && (this.#number - address.first) % address.step === 0
      case 'regex': {
        const regex = this.#used(address.regex)
        regex.lastIndex = 0
        return regex.test(space)
      }
      default:
        return false
    }
  }

  #used(regex: RegExp | undefined): RegExp {
    const used = regex ?? this.#last
    if (used === undefined) throw new Endless('no previous regular expression')
    this.#last = used
    return used
  }

  #substitute(space: string, { regex, pieces = [], all, number = 1 }: Command): string | undefined {
    const used = this.#used(regex)
    used.lastIndex = 0
    return substitute(space, used, { pieces, all: all === true, number })
  }
}
