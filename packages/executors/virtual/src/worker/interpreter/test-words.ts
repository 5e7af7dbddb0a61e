import type { ExecResult } from '#just-bash'

const unary = /^(?:!|-[abcdefghknoprstuvwxzGLNORS])$/
const numeric = /^-(?:eq|ne|lt|le|gt|ge)$/
const binary = /^(?:==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/

/** The error of `test` for two or three invalid words. just-bash would report a failed test instead. */
export function testError(name: string, given: readonly string[]): ExecResult | undefined {
  if (name === '[' && given.at(-1) !== ']') return undefined
  const [first = '', second = '', third = '', ...more] = name === '[' ? given.slice(0, -1) : given
  const count = given.length - (name === '[' ? 1 : 0)
  const failed = (words: string) => ({ stdout: '', stderr: `bash: ${name}: ${words}\n`, exitCode: 2 })
  if (count === 2 && !unary.test(first)) return failed(`${first}: unary operator expected`)
  if (count !== 3 || more.length > 0) return undefined
  const odd = numeric.test(second) ? [first, third].find((word) => !/^\s*[-+]?\d+\s*$/.test(word)) : undefined
  if (odd !== undefined) return failed(`${odd}: integer expression expected`)
  if (binary.test(second)) return undefined
  if (first === '!') return testError(name, name === '[' ? [second, third, ']'] : [second, third])
  return first === '(' && third === ')' ? undefined : failed(`${second}: binary operator expected`)
}
