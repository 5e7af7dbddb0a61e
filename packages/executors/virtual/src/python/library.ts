import { inflateRawSync } from 'node:zlib'

interface Member {
  readonly at: number
  readonly packed: number
  readonly stored: boolean
}

/** The path that is compiled into the library's modules, and a path of equal length below {@link Library.root}'s parent. */
const builtAt = Buffer.from('/tmp/stdlib/')
const shownAt = Buffer.from('/usr/lib/py/')

/** The directory of programs and Python's standard library: a zip archive of compiled modules, read-only. */
export class Library {
  static readonly root = '/usr/lib/python3.13'
  static readonly program = '/usr/bin/python3'
  readonly #zip: Buffer
  readonly #members = new Map<string, Member>()
  readonly #directories = new Map<string, Map<string, boolean>>()

  constructor(zip: Buffer) {
    this.#zip = zip
    this.#add(Library.program, { at: 0, packed: 0, stored: true })
    this.#add(`${Library.root}/lib-dynload/`)
    const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
    let at = zip.readUInt32LE(end + 16)
    for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
      const length = zip.readUInt16LE(at + 28)
      const local = zip.readUInt32LE(at + 42)
      this.#add(`${Library.root}/${zip.toString('utf8', at + 46, at + 46 + length)}`, {
        at: local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28),
        packed: zip.readUInt32LE(at + 20),
        stored: zip.readUInt16LE(at + 10) === 0,
      })
      at += 46 + length + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
    }
  }

  #add(path: string, member?: Member): void {
    for (let slash = path.indexOf('/', 1); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      const above = path.lastIndexOf('/', slash - 1)
      this.#entriesOf(path.slice(0, above)).set(path.slice(above + 1, slash), true)
      this.#entriesOf(path.slice(0, slash))
    }
    if (path.endsWith('/') || member === undefined) return
    const above = path.lastIndexOf('/')
    this.#entriesOf(path.slice(0, above)).set(path.slice(above + 1), false)
    this.#members.set(path, member)
  }

  #entriesOf(directory: string): Map<string, boolean> {
    const entries = this.#directories.get(directory) ?? new Map<string, boolean>()
    this.#directories.set(directory, entries)
    return entries
  }

  /** The names in a directory, each with whether the entry is a directory; `undefined` for other paths. */
  entries(path: string): ReadonlyMap<string, boolean> | undefined {
    return this.#directories.get(path)
  }

  read(path: string): Buffer | undefined {
    const member = this.#members.get(path)
    if (member === undefined) return undefined
    const packed = this.#zip.subarray(member.at, member.at + member.packed)
    const content = member.stored ? Buffer.from(packed) : inflateRawSync(packed)
    for (let at = content.indexOf(builtAt); at !== -1; at = content.indexOf(builtAt, at)) content.set(shownAt, at)
    return content
  }
}
