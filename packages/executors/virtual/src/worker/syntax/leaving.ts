import { literal, type Node, type SimpleCommand, walk, wordOf } from '../state/nodes.ts'

const loops = /^(?:For|CStyleFor|While|Until)$/

export function keepInFunctions(ast: unknown): void {
  walk(ast, (node: Node) => {
    if (node.type === 'FunctionDef') visit((node as unknown as { readonly body: unknown }).body, 0)
  })
}

function visit(node: unknown, depth: number): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const one of node) visit(one, depth)
    return
  }
  const { type = '' } = node as { readonly type?: string }
  if (type === 'FunctionDef') return
  if (type === 'SimpleCommand') limit(node as SimpleCommand, depth)
  for (const child of Object.values(node)) visit(child, depth + Number(loops.test(type)))
}

function limit(node: SimpleCommand, depth: number): void {
  const name = literal(node.name)
  if (name !== 'break' && name !== 'continue') return
  const levels = literal(node.args[0]) ?? '1'
  if (depth === 0) Object.assign(node, { name: wordOf(':'), args: [] })
  else if (Number(levels) > depth) node.args = [wordOf(String(depth))]
}
