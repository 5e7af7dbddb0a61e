import { expect, describe, it } from 'vitest'

import { normaliseCommand } from '../../src/commands/command.ts'
import { isWorkspaceError } from '../../src/index.ts'

function codeOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (isWorkspaceError(error)) return `${error.code}: ${error.reason}`
    throw error
  }
  return 'no error'
}

describe('normaliseCommand', () => {
  it('[LS5] a text stays as it is, an array is joined with quoting', () => {
    expect(normaliseCommand('ls | wc')).toEqual({ line: 'ls | wc' })
    expect(normaliseCommand(['ls', '-la', 'a b', "it's", ''])).toEqual({ line: `ls -la 'a b' 'it'\\''s' ''` })
  })

  it('[LS12] an array that is <shell> -c already is not wrapped twice', () => {
    expect(normaliseCommand(['bash', '-lc', 'ls; id'])).toEqual({ line: 'ls; id', shell: 'bash', login: true })
    expect(normaliseCommand(['/bin/sh', '-c', 'ls'])).toEqual({ line: 'ls', shell: '/bin/sh', login: false })
    expect(normaliseCommand(['python3', '-c', 'x y'])).toEqual({ line: `python3 -c 'x y'` })
    expect(normaliseCommand(['sh', '-c', 'echo $1', 'sh', 'a'])).toEqual({ line: `sh -c 'echo $1' sh a` })
  })

  it('[LS5] a non-string, an empty array and a blank program are three errors', () => {
    const wrong = [['ls', 1], [], [' ', 'a'], '', 'a\0', ['ls', '\0'], 5] as unknown as string[][]
    const reasons = wrong.map((command) => codeOf(() => normaliseCommand(command)))
    expect(reasons.every((reason) => reason.startsWith('EINVAL'))).toBe(true)
    expect(new Set(reasons).size).toBe(6) // NUL twice
  })
})
