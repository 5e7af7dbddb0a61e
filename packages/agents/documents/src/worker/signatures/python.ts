import type { Node } from '@vscode/tree-sitter-wasm'

import type { SignatureList } from './signature-list.ts'

/** Definitions in these nodes belong to the enclosing scope. */
const transparent = new Set([
  'ERROR',
  'block',
  'decorated_definition',
  'elif_clause',
  'else_clause',
  'except_clause',
  'finally_clause',
  'if_statement',
  'try_statement',
  'with_statement',
])

/** Classes, methods and functions, but no functions inside functions. */
export function collectPython(parent: Node, list: SignatureList, depth = 0): void {
  for (const node of parent.namedChildren) {
    if (node === null || list.truncated) continue
    if (node.type === 'class_definition' || node.type === 'function_definition') {
      const colon = node.children.find((child) => child?.type === ':')
      list.add(node.startPosition.row + 1, node.startIndex, colon?.startIndex ?? node.endIndex, depth)
      const body = node.childForFieldName('body')
      if (node.type === 'class_definition' && body !== null) collectPython(body, list, depth + 1)
    } else if (transparent.has(node.type)) {
      collectPython(node, list, depth)
    }
  }
}
