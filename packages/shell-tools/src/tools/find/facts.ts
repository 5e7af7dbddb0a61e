import type { Facts } from '../../contract.ts'
import type { Expression } from './expression.ts'

/** Tests and actions that need only name and type. All other tests and actions need every fact. */
const byType = new Set(
  '-true -false -name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -type -xtype -print -print0 -prune -quit -delete -exec -execdir'.split(
    ' ',
  ),
)
const bySize = new Set(['-size', '-empty'])
/** Directives of `-printf` that need only name and type. */
const directivesByType = new Set('%pfhPHdyYl')

/** The facts that an expression needs: a listing fetches only these. */
export function factsOf(expression: Expression): Facts {
  if (expression.kind === 'not') return factsOf(expression.part)
  if (expression.kind !== 'test') return most(expression.parts.map(factsOf))
  const { name, values } = expression
  if (name === '-printf') return formatFacts(values[0] ?? '')
  return byType.has(name) ? 'type' : bySize.has(name) ? 'size' : 'all'
}

function formatFacts(format: string): Facts {
  const directives = [...format.matchAll(/%[-0 #+]*\d*(?:\.\d+)?(.)/gsu)].map(([, directive = '']) => directive)
  return most(directives.map((one) => (directivesByType.has(one) ? 'type' : one === 's' ? 'size' : 'all')))
}

function most(facts: readonly Facts[]): Facts {
  return facts.includes('all') ? 'all' : facts.includes('size') ? 'size' : 'type'
}
