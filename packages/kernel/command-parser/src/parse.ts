import { forEachChild, parse } from 'unbash'
import type { ParsedScript, SyntaxNode } from 'unbash'

/** A line that cannot be parsed with certainty. The message gives the reason, and contains no part of the line. */
export class UnreadableCommand extends Error {
  override readonly name = 'UnreadableCommand'
}

/** Maximum number of here-documents in one line: the parser's time grows with the square of their number. */
const maxHereDocuments = 1000
/** Maximum UTF-16 units in one line, here-documents included. */
const maxLineLength = 65_536
/** Maximum number of commands, words and word parts in one line, including lines inside it. */
const maxParts = 10_000

/** The number of parts that may still be parsed in one line and the lines inside it (`sh -c`, `eval`). */
export interface ParseBudget {
  parts: number
}

export function newBudget(): ParseBudget {
  return { parts: maxParts }
}

/** Parses a line as bash does. @throws UnreadableCommand for an ambiguous line, and above the limits of this module */
export function parseScript(source: string, budget: ParseBudget = newBudget()): ParsedScript {
  if (source.length > maxLineLength) {
    throw new UnreadableCommand(`it has more than ${maxLineLength} characters; write a script into the workspace`)
  }
  if (source.split('<<', maxHereDocuments + 2).length > maxHereDocuments + 1) {
    throw new UnreadableCommand('too many here-documents')
  }
  const script = parse(source)
  visit(script, (node) => {
    budget.parts -= 1
    if (budget.parts < 0) {
      throw new UnreadableCommand(`it has more than ${maxParts} commands and words; write a script into the workspace`)
    }
    checkErrors(node)
  })
  return script
}

/** Calls `callback` for a node and all nodes inside, outer nodes first. */
export function visit(node: SyntaxNode, callback: (node: SyntaxNode) => void): void {
  // Not recursive: a line can be nested deeper than this process's stack allows.
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
