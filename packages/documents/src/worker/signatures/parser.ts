import { createRequire } from 'node:module'

import treeSitter, { type Language as Grammar, type Parser, type Tree } from '@vscode/tree-sitter-wasm'

import type { Language } from '../../languages.ts'

const { resolve } = createRequire(import.meta.url)
let parser: Promise<Parser> | undefined
const grammars = new Map<Language, Promise<Grammar>>()

/** The syntax tree, to be deleted by the caller. `undefined` when it took longer than `time` (ms). */
export async function parse(source: string, language: Language, time: number): Promise<Tree | undefined> {
  parser ??= treeSitter.Parser.init().then(() => new treeSitter.Parser())
  const ready = await parser
  let grammar = grammars.get(language)
  if (grammar === undefined) {
    grammar = treeSitter.Language.load(resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${language}.wasm`))
    grammars.set(language, grammar)
  }
  ready.setLanguage(await grammar)
  const end = performance.now() + time
  const tree = ready.parse(source, null, { progressCallback: () => performance.now() > end })
  if (tree !== null) return tree
  ready.reset()
  return undefined
}
