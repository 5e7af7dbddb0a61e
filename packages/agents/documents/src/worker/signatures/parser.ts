import { createRequire } from 'node:module'

import type treeSitterModule from '@vscode/tree-sitter-wasm'
import type { Language as Grammar, Parser, Tree } from '@vscode/tree-sitter-wasm'

import type { Language } from '../../languages.ts'
import { parserPackage } from '../protocol.ts'

type TreeSitter = typeof treeSitterModule

const { resolve } = createRequire(import.meta.url)
let loaded: Promise<TreeSitter | undefined> | undefined
let parser: Promise<Parser> | undefined
const grammars = new Map<Language, Promise<Grammar>>()

/** Returns `undefined` where the parser's package is not installed. */
export function loadTreeSitter(): Promise<TreeSitter | undefined> {
  return (loaded ??= import('@vscode/tree-sitter-wasm').then(
    (module) => module.default,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined
      throw error
    },
  ))
}

/** The tree of a source, which the caller deletes; `undefined` when parsing took longer than `time` (ms). */
export async function parse(
  treeSitter: TreeSitter,
  source: string,
  language: Language,
  time: number,
): Promise<Tree | undefined> {
  parser ??= treeSitter.Parser.init().then(() => new treeSitter.Parser())
  const ready = await parser
  let grammar = grammars.get(language)
  if (grammar === undefined) {
    grammar = treeSitter.Language.load(resolve(`${parserPackage}/wasm/tree-sitter-${language}.wasm`))
    grammars.set(language, grammar)
  }
  ready.setLanguage(await grammar)
  const end = performance.now() + time
  const tree = ready.parse(source, null, { progressCallback: () => performance.now() > end })
  if (tree !== null) return tree
  ready.reset()
  return undefined
}
