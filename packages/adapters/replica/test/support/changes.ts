import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'

export interface Changer {
  /** The directory of the files. */
  readonly root: string
  /** A number from 0, below `count`. */
  readonly pick: (count: number) => number
  /** A text that was never written before. */
  readonly text: () => string
  /** Told of a text that is on the disk now. */
  readonly wrote: (text: string) => void
  /** Told of a text that is replaced or removed on purpose, by a machine that has it. */
  readonly cover: (text: string) => void
}

const expected = [
  ...['ENOENT', 'EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'ERR_FS_EISDIR'],
  // of a disk that is full, and of a directory that is mounted over
  ...['ENOSPC', 'EROFS', 'EBUSY'],
]

/** One change of a small tree, as a program makes it. */
export function changeOnce({ root, pick, text, wrote, cover }: Changer): void {
  const [one, other] = [`${root}/f${pick(4)}`, `${root}/d${pick(2)}`]
  const coverAt = (path: string): void => {
    try {
      cover(readFileSync(path, 'utf8'))
    } catch {
      // there is no file
    }
  }
  const write = (path: string): void => {
    coverAt(path)
    const body = text()
    writeFileSync(path, body)
    wrote(body)
  }
  const acts = [
    () => write(one),
    () => write(one),
    () => {
      mkdirSync(other, { recursive: true })
      write(`${other}/g${pick(2)}`)
    },
    () => mkdirSync(`${other}/empty`, { recursive: true }),
    () => {
      const target = `${root}/f${pick(4)}-${pick(3)}`
      coverAt(target)
      renameSync(one, target)
    },
    () => chmodSync(one, 0o600 + pick(8) * 8),
    () => {
      if (readdirSync(root).length < 9) symlinkSync(`f${pick(4)}`, `${root}/l${pick(2)}`)
      else rmSync(`${root}/l${pick(2)}`, { force: true })
    },
    () => {
      coverAt(one)
      rmSync(one, { force: true })
    },
    () => {
      for (const name of readdirSync(other)) coverAt(`${other}/${name}`)
      rmSync(other, { recursive: true })
    },
    () => {
      // a change of type
      coverAt(one)
      rmSync(one)
      mkdirSync(one)
      write(`${one}/h`)
    },
  ]
  try {
    acts[pick(acts.length)]?.()
  } catch (error) {
    // it is not there, or is there already
    const { code = '', message } = error as NodeJS.ErrnoException
    // `rmSync` gives no code for errors of other kinds
    if (!expected.includes(code) && !/Read-only|busy|No space/u.test(message)) throw error
  }
}

/** Every text is written once. One that was not replaced on purpose, by a machine that had it, must be somewhere. */
export class Texts {
  readonly #written = new Set<string>()

  write(text: string): void {
    this.#written.add(text)
  }

  cover(text: string): void {
    this.#written.delete(text)
  }

  isCovered(text: string): boolean {
    return !this.#written.has(text)
  }

  lostIn(files: Readonly<Record<string, string>>): string[] {
    const found = new Set(Object.values(files))
    return [...this.#written].filter((text) => !found.has(text))
  }
}
