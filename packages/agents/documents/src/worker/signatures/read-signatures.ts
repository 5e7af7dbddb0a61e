import { parserPackage, type SignatureRequest, type SignaturesAnswer } from '../protocol.ts'
import { SignatureList } from './signature-list.ts'
import { readLines } from './patterns.ts'
import { loadTreeSitter, parse } from './parser.ts'
import { collectPython } from './python.ts'
import { collectTypeScript } from './typescript.ts'

/** UTF-16 units of the largest source for the parser. Longer sources are read by patterns. */
const longestParsed = 256 * 1024

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
      spent = true // the patterns below read the source instead
    }
  }
  const list = new SignatureList(source)
  readLines(source, language, list)
  const { signatures, truncated } = list
  const answer = { kind: 'signatures', signatures, parsed: false, truncated, method: 'patterns', spent } as const
  return treeSitter === undefined ? { ...answer, missing: parserPackage } : answer
}
