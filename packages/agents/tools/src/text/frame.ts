import { escapeUnprintable } from '@ws/core/executor'

/** Beginnings of the lines that answers add themselves, and tags that hosts put around answers. */
const beginnings = [
  '(?:Next|Note|Error|Data):',
  '\\[(?:note|changed|its changes|signatures|version|lines|bytes|(?:no )?pages|more|exit|…|\\d+ )',
  '\\((?:no (?:new )?output|the file is|nothing here|no lines)',
  '(?:Exit code \\d|Timed out after|Ended by|Failed to run|Running\\.|--- page|~~~)',
  '</?(?:antml|assistant|error|file|function|human|note|output|result|system|tool|user)[\\w:-]*[\\s>]',
].join('|')
/** Characters that a reader may take for a line end. */
const breaks = '[\\r\\v\\f\\u0085\\u2028\\u2029]'
const imitation = new RegExp(`(?:^|\\n|${breaks})[ \\t]*(?:${beginnings})`, 'u')
const imitationWithin = new RegExp(`${breaks}(?=[ \\t]*(?:${beginnings}))`, 'gu')

/** Wraps content in a fence of tildes if one of its lines imitates the answer's own lines. */
export function fenced(text: string): string {
  if (!imitation.test(text)) return text
  let fence = '~~~'
  for (const [run] of text.matchAll(/~{3,}/gu)) if (run.length >= fence.length) fence = `${run}~`
  return `${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}

/** Content after a line number or a mark. Escapes a line end if the next line would imitate a line of the answer. */
export function inLine(text: string): string {
  return text.replaceAll(imitationWithin, escapeUnprintable)
}

export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[^ -~]/gu, (character) =>
    escapeUnprintable(character) === character ? character : escapesOf(character),
  )
}

function escapesOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
