import { createHash, hash } from 'node:crypto'

const algorithm = 'sha256'
const encoding = 'base64url'

export function contentOf(bytes: Uint8Array): string {
  return hash(algorithm, bytes, encoding)
}

export class ContentName {
  readonly #hash = createHash(algorithm)
  #name: string | undefined

  add(piece: Uint8Array): void {
    this.#hash.update(piece)
  }

  get(): string {
    this.#name ??= this.#hash.digest(encoding)
    return this.#name
  }
}
