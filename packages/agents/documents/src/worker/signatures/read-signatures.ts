import { parserPackage, type SignatureRequest, type SignaturesAnswer } from '../protocol.ts'
import { SignatureList } from './signature-list.ts'
import { readLines } from './patterns.ts'
import { loadTreeSitter, parse } from './parser.ts'
import { collectPython } from './python.ts'
import { collectTypeScript } from './typescript.ts'

/** UTF-16 units of a source that the parser is given; a longer one is read line by line. */
const longestParsed = 256 * 1024

/** By the parser; by patterns where it is not installed, the source is too long for it, or it fails or takes too long. */
export async function readSignatures({ source, language, parseTime }: SignatureRequest): Promise<SignaturesAnswer> {
  let spent = false
  const treeSitter = await loadTreeSitter()
  if (treeSitter !== undefined && source.length <= longestParsed) {
    try {
      const tree = await parse(treeSitter, source, language, parseTime)
      if (tree !== undefined) {
        const list = new SignatureList(source)
        const collect = language === 'python' ? collectPython : collectTypeScript
        collect(tree.rootNode, list)
        const parsed = !tree.rootNode.hasError
        tree.delete()
        const { signatures, truncated } = list
        return { kind: 'signatures', signatures, parsed, truncated, method: 'parser', spent }
      }
    } catch {
      spent = true
    }
  }
  const list = new SignatureList(source)
  readLines(source, language, list)
  const { signatures, truncated } = list
  const answer = { kind: 'signatures', signatures, parsed: false, truncated, method: 'patterns', spent } as const
  return treeSitter === undefined ? { ...answer, missing: parserPackage } : answer
}
