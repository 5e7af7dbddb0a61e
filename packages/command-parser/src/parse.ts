import { forEachChild, parse } from 'unbash'
import type { ParsedScript, SyntaxNode } from 'unbash'

/** The line cannot be read with certainty. The message tells why, and holds nothing of the line. */
export class UnreadableCommand extends Error {
  override readonly name = 'UnreadableCommand'
}

/** Here-documents of one line at most: the parser's time grows with the square of their number. */
const maxHereDocuments = 1000

/**
 * Parses a line as bash reads it (a POSIX line is read alike), with everything that lies in it: substitutions too.
 *
 * @throws UnreadableCommand where the parser had to guess: unterminated quotes, a missing `fi`, too deep nesting
 */
export function parseScript(source: string): ParsedScript {
  if (source.split('<<', maxHereDocuments + 2).length > maxHereDocuments + 1) {
    throw new UnreadableCommand('too many here-documents')
  }
  const script = parse(source)
  visit(script, checkErrors)
  return script
}

/** Calls back for a node and everything in it, substitutions, function bodies and here-documents included; outer ones first. */
export function visit(node: SyntaxNode, callback: (node: SyntaxNode) => void): void {
  // No recursion: a line can be nested deeper than the stack of this process is.
  const open: SyntaxNode[] = [node]
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    callback(current)
    const children: SyntaxNode[] = []
    forEachChild(current, (child) => children.push(child))
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index]
      if (child !== undefined) open.push(child)
    }
  }
}

function checkErrors(node: SyntaxNode): void {
  if (node.type === 'Script') {
    const first = 'errors' in node ? node.errors?.[0] : undefined
    if (first !== undefined) throw new UnreadableCommand(first.message)
  }
  const substitution = node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution'
  if (substitution && node.script === undefined) throw new UnreadableCommand('a substitution that cannot be read')
  if (node.type === 'HereDoc' && node.closing === undefined)
    throw new UnreadableCommand('a here-document without its end')
}
