import type { Language } from '../../languages.ts'
import type { SignatureList } from './signature-list.ts'

/** Limit of UTF-16 units read from each line, which bounds the work of a pattern. */
const longestLine = 400

const python = /^[ \t]*(?:async[ \t]+def|def|(class))[ \t]+[\p{L}_]/u
const typeScript = [
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(?:class|(?:const )?enum|function\*?|interface|namespace|type) ?[\p{L}_$]/u,
  /^(?:export )?(?:const|let|var) [\p{L}_$][\w$]*(?:: [^=]*)? = (?:async )?(?:function\b|\(.*=>|[\w$]+ =>)/u,
]

/** Finds definitions by their first line, in linear time. Also finds text in strings and comments that looks like a definition. */
export function readLines(source: string, language: Language, list: SignatureList): void {
  const read = language === 'python' ? pythonReader(list) : typeScriptReader(list)
  let number = 1
  for (let start = 0; start < source.length && !list.truncated; number++) {
    const newline = source.indexOf('\n', start)
    const end = newline === -1 ? source.length : newline
    read(source.slice(start, Math.min(end, start + longestLine)), number, start)
    start = end + 1
  }
}

type LineReader = (line: string, number: number, start: number) => void

function pythonReader(list: SignatureList): LineReader {
  const scopes: { readonly indent: number; readonly isClass: boolean }[] = []
  return (line, number, start) => {
    const indent = line.search(/[^ \t]/u)
    if (indent === -1 || line[indent] === '#' || line[indent] === '\r') return
    while ((scopes.at(-1)?.indent ?? -1) >= indent) scopes.pop()
    const match = python.exec(line)
    if (match === null) return
    if (scopes.every(({ isClass }) => isClass)) list.add(number, start + indent, start + line.length, scopes.length)
    scopes.push({ indent, isClass: match[1] !== undefined })
  }
}

function typeScriptReader(list: SignatureList): LineReader {
  return (line, number, start) => {
    if (!typeScript.some((pattern) => pattern.test(line))) return
    const brace = line.indexOf('{')
    list.add(number, start, start + (brace === -1 ? line.length : brace), 0)
  }
}
