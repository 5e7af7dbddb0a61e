import type { Node } from '@vscode/tree-sitter-wasm'

import type { SignatureList } from './signature-list.ts'

/** Declarations in these nodes belong to the enclosing scope. */
const transparent = new Set(['ERROR', 'expression_statement', 'ambient_declaration', 'export_statement'])
const declarations = new Set([
  'abstract_class_declaration',
  'abstract_method_signature',
  'class_declaration',
  'enum_declaration',
  'function_declaration',
  'function_signature',
  'generator_function_declaration',
  'interface_declaration',
  'internal_module',
  'method_definition',
  'method_signature',
  'module',
  'type_alias_declaration',
])
const scopes = new Set([
  'abstract_class_declaration',
  'class',
  'class_declaration',
  'interface_declaration',
  'internal_module',
  'module',
])
/** These values make a variable, a field or `export default` a signature. */
const values = new Set(['arrow_function', 'class', 'function_expression', 'generator_function'])
const variables = new Set(['lexical_declaration', 'variable_declaration'])
const fields = new Set(['field_definition', 'public_field_definition'])

export function collectTypeScript(parent: Node, list: SignatureList, depth = 0, outer?: Node): void {
  for (const node of parent.namedChildren) {
    if (node === null || list.truncated) continue
    // `export` and `declare` belong to the signature; decorators do not.
    const head = firstWord(outer ?? node)
    if (declarations.has(node.type)) {
      add(list, head, node, depth)
    } else if (values.has(node.type) && outer?.type === 'export_statement') {
      add(list, head, node, depth)
    } else if (fields.has(node.type)) {
      const value = node.childForFieldName('value')
      if (value !== null && values.has(value.type)) add(list, head, value, depth)
    } else if (variables.has(node.type)) {
      addVariables(list, head, node, depth)
    } else if (transparent.has(node.type)) {
      collectTypeScript(node, list, depth, node.type === 'ERROR' ? undefined : (outer ?? node))
    }
  }
}

function addVariables(list: SignatureList, head: Node, declaration: Node, depth: number): void {
  const declarators = declaration.namedChildren.filter((child) => child?.type === 'variable_declarator')
  for (const [index, declarator] of declarators.entries()) {
    const value = declarator?.childForFieldName('value')
    if (!declarator || !value || !values.has(value.type)) continue
    add(list, index === 0 ? head : declarator, value, depth)
  }
}

function add(list: SignatureList, head: Node, node: Node, depth: number): void {
  const body = node.childForFieldName('body')
  list.add(head.startPosition.row + 1, head.startIndex, body?.startIndex ?? node.endIndex, depth)
  if (body !== null && scopes.has(node.type)) collectTypeScript(body, list, depth + 1)
}

function firstWord(node: Node): Node {
  const first = node.children.find((child) => child !== null && child.type !== 'decorator' && child.type !== 'comment')
  if (!first) return node
  // For `export` before a decorated class, continue with the class.
  return first.childCount > 0 && declarations.has(first.type) ? firstWord(first) : first
}
