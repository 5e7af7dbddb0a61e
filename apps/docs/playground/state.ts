import { switches, type Files } from './engine.ts'

export interface State {
  readonly files: Files
  /** Names of the active {@link switches}. */
  readonly rules: readonly string[]
  /** The command in the prompt, which does not run automatically. */
  readonly command: string
}

export const initial: State = {
  files: {
    '/README.md': 'The editor and the shell are two doors to one tree of files.\nOne list of rules guards both.\n',
    '/.env': 'TOKEN=none\n',
    '/.git/hooks/pre-commit': '#!/bin/sh\nexit 0\n',
    '/notes/plan.md': '1. read\n2. count\n',
    '/out/': '',
    '/secrets/key.txt': 'open sesame\n',
    '/skills/count.md': 'Count lines with `wc -l`.\n',
    '/src/words.txt': 'pear\napple\nfig\n',
    '/tmp/': '',
  },
  rules: ['secrets', 'notes', 'protectSecrets', 'protectHooks', 'skills'],
  command: 'sort src/words.txt > out/sorted.txt; cat secrets/key.txt; echo 3. rest >> notes/plan.md',
}

/** Limit of characters of a link: some servers and chats cut longer links. */
const mostCharacters = 8_000
/** Limit of bytes of an uncompressed state. */
const mostBytes = 256 * 1024
const prefix = '#s='

/** @throws Error for too many files */
export async function toLink(state: State): Promise<string> {
  const packed = await pipe(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream('deflate-raw'))
  const text = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(''))
  const link = prefix + text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  if (link.length <= mostCharacters) return link
  throw new Error(`The files take ${link.length} characters of a link, and ${mostCharacters} are the most; delete some`)
}

export const isLink = (hash: string): boolean => hash.startsWith(prefix)

/** @returns undefined without a state @throws Error for an unreadable state */
export async function fromLink(hash: string): Promise<State | undefined> {
  if (!isLink(hash)) return undefined
  if (hash.length > mostCharacters)
    throw new Error(`The link has ${hash.length} characters, and ${mostCharacters} are the most`)
  try {
    const text = atob(hash.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/'))
    const packed = Uint8Array.from(text, (character) => character.charCodeAt(0))
    const bytes = await pipe(packed, new DecompressionStream('deflate-raw'))
    return checked(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch {
    throw new Error('The link is damaged') // whatever the fault is, a visitor can only ask for another link
  }
}

/** Checks a state. Throws our own message for a damaged state: the browser's message would quote the text. */
function checked(value: unknown): State {
  const { files, rules, command } = value as State
  const entries = Object.entries(files)
  const isRight =
    entries.length <= 1_000 &&
    entries.every(([path, text]) => path.startsWith('/') && typeof text === 'string') &&
    rules.every((name) => Object.hasOwn(switches, name)) &&
    typeof command === 'string'
  if (!isRight) throw new Error('not a state')
  return { files, rules, command }
}

/** @throws Error if input or output exceeds {@link mostBytes}: a short link could expand without end */
async function pipe(bytes: Uint8Array<ArrayBuffer>, through: CompressionStream | DecompressionStream) {
  const reader = new Blob([bytes]).stream().pipeThrough(through).getReader()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let left = mostBytes
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value)
    left -= part.value.length
    if (left < 0 || bytes.length > mostBytes) throw new Error(`The files are larger than ${mostBytes} bytes`)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}
