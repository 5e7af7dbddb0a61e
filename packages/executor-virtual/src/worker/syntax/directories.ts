import { parse } from '#just-bash'

import { type ForLoop, groupOf, type Part, type SimpleCommand, type Word, wordOf } from './nodes.ts'

// just-bash takes `*/`, which names directories, for `*`, which names files too. A command with such a word becomes a group
// that finds the directories first, in an array, and gives them to the command.

/** True for a word such as `*\/`, whose matches are directories. */
export function namesDirectories({ parts }: Word): boolean {
  const last = parts.at(-1)
  return parts.some(({ type }) => type === 'Glob') && last?.type === 'Literal' && last.value?.endsWith('/') === true
}

/** Makes a command or a loop that has such words into the group. */
export function findDirectories(node: SimpleCommand | ForLoop): void {
  const words = (node.type === 'For' ? node.words : node.args) ?? []
  const before: unknown[] = []
  const found = words.map((word, index) => {
    if (!namesDirectories(word)) return word
    const name = `__directories${index}`
    before.push(...preludeOf(name, word))
    return wordOf(`"\${${name}[@]}"`)
  })
  groupOf(node, before, node.type === 'For' ? { ...node, words: found } : { ...node, args: found }, [])
}

/** Statements that fill an array with the directories that match; with the word itself where there are none, as bash does. */
function preludeOf(name: string, word: Word): readonly unknown[] {
  const { statements } = parse(
    `${name}=(); for __entry in _; do if [ -d "$__entry" ]; then ${name}+=("$__entry/"); fi; done
     if [ "\${#${name}[@]}" = 0 ] && ! shopt -q nullglob; then ${name}=(_); fi`,
  )
  const text = JSON.stringify(statements)
  const placeholder = JSON.stringify(wordOf('_'))
  const [first = '', second = '', third = ''] = text.split(placeholder)
  return JSON.parse(
    first + JSON.stringify(withoutSlash(word)) + second + JSON.stringify(quoted(word)) + third,
  ) as unknown[]
}

function withoutSlash({ parts }: Word): Word {
  const last = parts.at(-1)
  return {
    type: 'Word',
    parts: [...parts.slice(0, -1), { type: 'Literal', value: last?.value?.replace(/\/+$/, '') ?? '' }],
  }
}

/** The word as text: nothing in it matches files, nor does the value of a variable. */
function quoted({ parts }: Word): Word {
  return {
    type: 'Word',
    parts: parts.map((part): Part => {
      if (part.type === 'Glob') return { type: 'SingleQuoted', value: String(part.pattern) }
      return part.type === 'ParameterExpansion' ? { type: 'DoubleQuoted', parts: [part] } : part
    }),
  }
}
