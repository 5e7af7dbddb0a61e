import { foldName } from '../path/segments.ts'
import { foldCharacters, onlyAscii } from './folds.ts'

export interface Name {
  /** The name, folded if case does not matter. */
  readonly text: string
  /** The name, folded character by character. `undefined`: equal to `text`. */
  readonly characters: string | undefined
}

export function nameOf(name: string, foldCase: boolean): Name {
  if (!foldCase) return { text: name, characters: undefined }
  if (onlyAscii.test(name)) return { text: name.toLowerCase(), characters: undefined }
  return { text: foldName(name), characters: foldCharacters(name) }
}

export function sameName(left: Name, right: Name): boolean {
  return left.text === right.text && left.characters === right.characters
}

export function namesOf(path: string, foldCase: boolean): Name[] {
  if (path === '/') return []
  return path
    .slice(1)
    .split('/')
    .map((name) => nameOf(name, foldCase))
}
