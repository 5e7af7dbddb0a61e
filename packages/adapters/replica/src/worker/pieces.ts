import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  lstatSync,
  openSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'

import { Content, ContentName, markNew, newTemporary, pathOf, Unexpected } from '@ws/tree/disk'
import type { Facts, Place } from '@ws/tree/disk'

const creating = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

export interface SeenFile {
  /** A path below the descriptor of a verified directory. */
  readonly at: string
  readonly status: Stats
  readonly content: string
}

interface Reading {
  readonly fd: number
  readonly before: Stats
  readonly content: string
  readonly name: ContentName
  offset: number
}

interface Writing {
  /** Absent if only the hash is wanted. `place` becomes undefined once the file has its path. */
  readonly file: { readonly fd: number; place: Place | undefined } | undefined
  readonly name: ContentName
  size: number
}

/** Transfers files in pieces between disk and store. Each file takes the memory of one piece. */
export class Pieces {
  readonly #readings = new Map<number, Reading>()
  readonly #writings = new Map<number, Writing>()
  #last = 0

  /** `mapped`: running programs may have the file mapped. */
  open({ at, status, content }: SeenFile, mapped: boolean): number | undefined {
    const fd = Content.openSeen(at, status)
    if (fd === undefined) return undefined
    if (mapped) fdatasyncSync(fd) // until this call, a write through a mapping changes no time
    this.#last += 1
    this.#readings.set(this.#last, { fd, before: fstatSync(fd), content, name: new ContentName(), offset: 0 })
    return this.#last
  }

  next(file: number): Uint8Array | { readonly isWhole: boolean } {
    const reading = this.#readings.get(file)
    if (reading === undefined) throw new Error('the file is closed')
    const { fd, before, content, name, offset } = reading
    const bytes = new Uint8Array(Math.min(Content.pieceBytes, before.size - offset))
    const count = Content.readFully(fd, bytes, offset)
    if (count > 0) {
      const piece = bytes.subarray(0, count)
      name.add(piece)
      reading.offset += count
      return piece
    }
    const after = fstatSync(fd)
    return { isWhole: Content.isSame(before, after) && offset === after.size && name.get() === content }
  }

  /** `directory`: a descriptor of the directory that contains the file until it has its place. Only the owner can read the file there. */
  create(directory: number | undefined): number {
    const place = directory === undefined ? undefined : { parent: directory, name: newTemporary() }
    const file = place && { fd: openSync(pathOf(place), creating, 0o600), place }
    this.#last += 1
    this.#writings.set(this.#last, { file, name: new ContentName(), size: 0 })
    return this.#last
  }

  add(file: number, bytes: Uint8Array): void {
    const writing = this.#writing(file)
    const { fd } = writing.file ?? {}
    for (let done = 0; fd !== undefined && done < bytes.length; )
      done += writeSync(fd, bytes, done, bytes.length - done, writing.size + done)
    writing.name.add(bytes)
    writing.size += bytes.length
  }

  hashOf(file: number): string {
    return this.#writing(file).name.get()
  }

  factsOf(file: number): { readonly size: number; readonly content: string } {
    return { size: this.#writing(file).size, content: this.hashOf(file) }
  }

  /** Gives a new file its owner, bits and time. Returns its place. */
  finish(number: number, facts: Facts): Place {
    const { fd, place } = this.#file(number)
    if (place === undefined) throw new Unexpected()
    markNew(fd, facts)
    return place
  }

  /** Unlinks a new file's hidden name, which changes its times. @throws Unexpected for another file in its place */
  arrive(number: number, place: Place): void {
    const file = this.#file(number)
    const [own, there] = [fstatSync(file.fd), lstatSync(pathOf(place))]
    if (own.ino !== there.ino || own.dev !== there.dev) throw new Unexpected()
    removeHidden(file)
    file.place = undefined
  }

  drop(number: number): void {
    const reading = this.#readings.get(number)
    if (reading !== undefined) closeSync(reading.fd)
    this.#readings.delete(number)
    const file = this.#writings.get(number)?.file
    this.#writings.delete(number)
    if (file === undefined) return
    removeHidden(file)
    closeSync(file.fd)
  }

  close(): void {
    for (const number of [...this.#readings.keys(), ...this.#writings.keys()]) this.drop(number)
  }

  #writing(number: number): Writing {
    const writing = this.#writings.get(number)
    if (writing === undefined) throw new Error('the file is closed')
    return writing
  }

  #file(number: number): NonNullable<Writing['file']> {
    const { file } = this.#writing(number)
    if (file === undefined) throw new Error('only its hash is wanted')
    return file
  }
}

/** Removes the hidden name only if it still names this file. */
function removeHidden({ fd, place }: NonNullable<Writing['file']>): void {
  if (place === undefined) return
  const there = lstatSync(pathOf(place), { throwIfNoEntry: false })
  if (there?.ino === fstatSync(fd).ino) unlinkSync(pathOf(place))
}
