import { paths, WorkspaceError } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { invalid } from '../errors.ts'
import { controlCharacters, isLegalName, isReserved, linkSuffix } from './names.ts'

/** Limit of a key in UTF-8 bytes, on S3 and R2. */
const maxKeyBytes = 1024

export interface KeySpaceOptions {
  /** A prefix of whole segments; `""` for the whole bucket. */
  readonly prefix?: string | undefined
  readonly links?: boolean | undefined
  readonly controlCharacters?: boolean | undefined
  readonly normalised?: boolean | undefined
}

/** Maps the paths of one adapter to keys. Every key begins with prefix and slash: `threads/t1` never reaches `threads/t12`. */
export class KeySpace {
  /** The beginning of every key: `""`, or segments with a slash at the end. */
  readonly prefix: string
  readonly maxPathBytes: number
  readonly maxNameBytes: number
  readonly #options: KeySpaceOptions

  constructor(options: KeySpaceOptions) {
    const given = options.prefix ?? ''
    const root = paths.parseMount(`/${given}`, 'createS3Adapter')
    if (given.includes('//') || (given !== '' && `${root.slice(1)}/` !== `${given.replace(/^\/|\/$/gu, '')}/`)) {
      throw invalid('createS3Adapter', root, 'is not a prefix of whole segments', 'give it like `threads/t1`')
    }
    this.prefix = root === '/' ? '' : `${root.slice(1)}/`
    // a key has no leading slash, but a directory's marker has a final one
    const rest = maxKeyBytes - Buffer.byteLength(this.prefix) - (options.links === true ? linkSuffix.length : 0)
    this.maxPathBytes = Math.min(paths.maxPathBytes, rest)
    if (this.maxPathBytes < 64) {
      throw new WorkspaceError({
        code: 'ENAMETOOLONG',
        operation: 'createS3Adapter',
        reason: `the prefix leaves ${this.maxPathBytes} bytes for paths`,
        remedy: 'choose a shorter one',
      })
    }
    this.maxNameBytes = Math.min(paths.maxNameBytes, this.maxPathBytes - 1)
    this.#options = options
  }

  /** @throws WorkspaceError for an invalid path, before any request */
  check(path: MountPath, operation: string): void {
    const { links, controlCharacters: control, normalised } = this.#options
    if (control === false && controlCharacters.test(path)) {
      throw invalid(operation, path, 'has a control character, which the store cannot hold in names', 'leave it out')
    }
    if (normalised === true && path.normalize('NFC') !== path) {
      const remedy = `write it as ${JSON.stringify(path.normalize('NFC'))}`
      throw invalid(operation, path, 'is not normalised (NFC): the store would take it for another name', remedy)
    }
    if (
      links === true &&
      path.includes(linkSuffix) &&
      paths.segmentsOf(path).some((name) => name.endsWith(linkSuffix))
    ) {
      throw invalid(operation, path, `has a name in \`${linkSuffix}\`, which stands for a symbolic link`)
    }
    if (isReserved(path)) {
      throw invalid(operation, path, 'has a name that the store keeps for itself', 'choose another name')
    }
  }

  key(path: MountPath): string {
    return this.prefix + path.slice(1)
  }

  /** The key of a directory's marker, and the prefix of keys below. */
  directoryKey(path: MountPath): string {
    return path === '/' ? this.prefix : `${this.prefix}${path.slice(1)}/`
  }

  linkKey(path: MountPath): string {
    return this.key(path) + linkSuffix
  }

  /** The path of a key below the prefix. The key is not checked. */
  pathOf(key: string): MountPath {
    return `/${key.slice(this.prefix.length)}` as MountPath
  }

  /** Whether `check` would accept a listed name. */
  isReachable(directory: MountPath, name: string): boolean {
    if (!isLegalName(name)) return false // @defence objects whose keys are no paths: reports keys that no path can name
    const { links, controlCharacters: control, normalised } = this.#options
    if (links === true && name.endsWith(linkSuffix)) return false
    if (control === false && controlCharacters.test(name)) return false
    if (normalised === true && name.normalize('NFC') !== name) return false
    if (directory.length + name.length < this.maxPathBytes / 3) return true
    return Buffer.byteLength(directory) + Buffer.byteLength(name) + 1 <= this.maxPathBytes
  }
}

/** The value of `x-amz-copy-source`: `bucket/key`, encoded except for the slashes. */
export function copySource(bucket: string, key: string): string {
  return [bucket, ...key.split('/')].map((part) => encodeURIComponent(part)).join('/')
}
