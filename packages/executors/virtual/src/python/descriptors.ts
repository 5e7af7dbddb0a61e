import { Content } from './content.ts'
import { CallError } from './errors.ts'
import { type Facts, type Names, streamFacts } from './facts.ts'
import type { Files } from './files.ts'

/** The target of a descriptor. Copies of a descriptor share one. */
export interface Target {
  readonly path: string
  readonly kind: 'file' | 'directory' | 'null' | 'input' | 'output' | 'errors'
  readonly facts: Facts
  readonly content?: Content
  readonly flags: number
  position: number
  users: number
  names?: readonly Names[]
}

interface DescriptorsOptions {
  readonly files: Files
  readonly stdin: Uint8Array
  readonly onInput: () => void
  /** Takes output of the descriptor 1 or 2. */
  readonly print: (descriptor: 1 | 2, bytes: Uint8Array) => void
}

const most = 1_024
const append = 0o2000
const standard = ['stdin', 'stdout', 'stderr']

/** The open files of a program. */
export class Descriptors {
  readonly #options: DescriptorsOptions
  readonly #table: (Target | undefined)[] = []
  #read = 0

  constructor(options: DescriptorsOptions) {
    this.#options = options
    for (const [index, kind] of (['input', 'output', 'errors'] as const).entries())
      this.place(stream(kind, `/dev/${standard[index]}`))
  }

  place(target: Target, from = 0): number {
    let at = from
    while (this.#table[at] !== undefined) at++
    if (at >= most) throw new CallError('EMFILE') // @defence python program that takes: is bounded, and says why
    target.users++
    this.#table[at] = target
    return at
  }

  get(descriptor: number): Target {
    const target = this.#table[descriptor]
    if (target === undefined) throw new CallError('EBADF')
    return target
  }

  content(descriptor: number): Content {
    const { kind, content } = this.get(descriptor)
    if (kind === 'directory') throw new CallError('EISDIR')
    if (content === undefined) throw new CallError('EINVAL')
    return content
  }

  open(path: string, flags: number, mode: number): number {
    const { files } = this.#options
    const device = files.device(path)
    if (device !== undefined) {
      const number = /^fd\/(\d+)$/.exec(device)?.[1] ?? standard.indexOf(device)
      if (device === 'null') return this.place({ ...stream('null', path), flags })
      if (Number(number) < 0) throw new CallError('ENOENT')
      return this.place(this.get(Number(number)))
    }
    const opened = files.open(path, flags, mode)
    const rest = { path, flags, position: 0, users: 0 }
    if (!(opened instanceof Content)) return this.place({ ...rest, kind: 'directory', facts: opened })
    try {
      return this.place({ ...rest, kind: 'file', facts: opened.facts, content: opened })
    } catch (error) {
      files.close(opened)
      throw error
    }
  }

  copy(from: number, to: number): number {
    const target = this.get(from)
    if (from === to) throw new CallError('EINVAL')
    if (to < 0 || to >= most) throw new CallError('EBADF')
    if (this.#table[to] !== undefined) this.close(to)
    return this.place(target, to)
  }

  close(descriptor: number): void {
    const target = this.get(descriptor)
    this.#table[descriptor] = undefined
    if (--target.users === 0 && target.content !== undefined) this.#options.files.close(target.content)
  }

  read(descriptor: number, into: Uint8Array, position: number | undefined): number {
    const target = this.get(descriptor)
    if (target.kind === 'null') return 0
    if (target.kind === 'input') {
      const { stdin, onInput } = this.#options
      onInput()
      const part = stdin.subarray(this.#read, this.#read + into.length)
      into.set(part)
      this.#read += part.length
      return part.length
    }
    if ((target.flags & 3) === 1) throw new CallError('EBADF')
    const count = this.content(descriptor).read(into, position ?? target.position)
    if (position === undefined) target.position += count
    return count
  }

  write(descriptor: number, bytes: Uint8Array, position: number | undefined): number {
    const target = this.get(descriptor)
    if (bytes.length === 0) return 0
    if (target.kind === 'output') this.#options.print(1, bytes.slice())
    else if (target.kind === 'errors') this.#options.print(2, bytes.slice())
    else if ((target.flags & 3) === 0) throw new CallError('EBADF')
    else if (target.kind !== 'null') {
      const content = this.content(descriptor)
      const appends = (target.flags & append) !== 0
      if (appends && position === undefined) target.position = content.size
      content.write(bytes, appends ? content.size : (position ?? target.position)) // `pwrite` appends too, on Linux
      if (position === undefined) target.position += bytes.length
    }
    return bytes.length
  }

  seek(descriptor: number, offset: bigint, whence: number): bigint {
    const target = this.get(descriptor)
    if (target.facts.type === 'stream' && target.kind !== 'null') throw new CallError('ESPIPE')
    const from = [0, target.position, target.content?.size ?? 0][whence]
    if (from === undefined || from + Number(offset) < 0) throw new CallError('EINVAL')
    target.position = from + Number(offset)
    return BigInt(target.position)
  }

  /** The rest of a directory's names, from the place of the descriptor on. */
  names(descriptor: number): { readonly target: Target; readonly names: readonly Names[] } {
    const target = this.get(descriptor)
    if (target.kind !== 'directory') throw new CallError('ENOTDIR')
    if (target.position === 0 || target.names === undefined) {
      const own = ['.', '..'].map((name): Names => ({ name, type: 'directory' }))
      target.names = [...own, ...this.#options.files.list(target.path)]
    }
    return { target, names: target.names.slice(target.position) }
  }
}

function stream(kind: Target['kind'], path: string): Target {
  return { path, kind, facts: streamFacts(path), flags: kind === 'input' ? 0 : 2, position: 0, users: 0 }
}
