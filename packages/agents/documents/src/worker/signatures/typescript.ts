import type { Node } from '@vscode/tree-sitter-wasm'

import type { SignatureList } from './signature-list.ts'

/** Nodes whose declarations belong to the scope around them. */
const transparent = new Set(['ERROR', 'expression_statement', 'ambient_declaration', 'export_statement'])
/** Shown up to their body. */
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
/** Those with declarations of their own in their body. */
const scopes = new Set([
  'abstract_class_declaration',
  'class',
  'class_declaration',
  'interface_declaration',
  'internal_module',
  'module',
])
/** Values that make a signature of the variable or field that has them, and of `export default`. */
const values = new Set(['arrow_function', 'class', 'function_expression', 'generator_function'])
const variables = new Set(['lexical_declaration', 'variable_declaration'])
const fields = new Set(['field_definition', 'public_field_definition'])

/** Classes, interfaces, their methods, types, enums, namespaces and functions, also those held by constants. */
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

/** From the head up to the body of the node, and the declarations in it. */
function add(list: SignatureList, head: Node, node: Node, depth: number): void {
  const body = node.childForFieldName('body')
  list.add(head.startPosition.row + 1, head.startIndex, body?.startIndex ?? node.endIndex, depth)
  if (body !== null && scopes.has(node.type)) collectTypeScript(body, list, depth + 1)
}

function firstWord(node: Node): Node {
  const first = node.children.find((child) => child !== null && child.type !== 'decorator' && child.type !== 'comment')
  if (!first) return node
  // `export` before a class with decorators of its own: the class is looked at too
  return first.childCount > 0 && declarations.has(first.type) ? firstWord(first) : first
}
