import { parse } from '#just-bash'

type Ast = ReturnType<typeof parse>

interface Redirection {
  readonly type: 'Redirection'
  readonly fd: number | null
  readonly fdVariable?: string
  readonly operator: string
  readonly target: { readonly parts?: readonly { readonly type: string; readonly value?: string }[] }
}

/** The first descriptor number of this package. Scripts rarely use such numbers. */
const firstDescriptor = 200

/**
 * Rewrites `cmd > file` as the equivalent `cmd 200> file 1>&200`.
 * just-bash ends the whole script if a plain `>` fails. With a numbered descriptor, only the command fails, as in bash.
 */
export function numberRedirections(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    node.forEach(numberRedirections)
    return
  }
  if ('redirections' in node && Array.isArray(node.redirections)) {
    node.redirections = node.redirections.flatMap((redirection: Redirection, index: number) =>
      numbered(redirection, firstDescriptor + index),
    )
  }
  Object.values(node).forEach(numberRedirections)
}

function numbered(redirection: Redirection, descriptor: number): readonly Redirection[] {
  const { fd, fdVariable, operator } = redirection
  if (fdVariable !== undefined || (fd !== null && fd > 2)) return [redirection]
  const both =
    operator === '&>' || operator === '&>>' || (operator === '>&' && fd === null && !isDescriptor(redirection))
  if (!both && operator !== '>' && operator !== '>>' && operator !== '>|') return [redirection]
  const plain = operator === '&>>' ? '>>' : operator === '&>' || operator === '>&' ? '>' : operator
  const opened: Redirection = { ...redirection, fd: descriptor, operator: plain }
  return [opened, ...(both ? [1, 2] : [fd ?? 1]).map((from) => duplicate(from, descriptor))]
}

function isDescriptor({ target }: Redirection): boolean {
  const [part] = target.parts ?? []
  return part === undefined || part.type !== 'Literal' || /^(?:\d+-?|-)$/.test(part.value ?? '')
}

function duplicate(from: number, to: number): Redirection {
  return { type: 'Redirection', fd: from, operator: '>&', target: { parts: [], ...word(String(to)) } }
}

function word(text: string): object {
  const ast: Ast = parse(`: ${text}`)
  const command = ast.statements[0]?.pipelines[0]?.commands[0]
  return (command !== undefined && 'args' in command && command.args[0]) || {}
}
