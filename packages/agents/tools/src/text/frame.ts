import { escapeUnprintable } from '@ws/core/executor'

/** Beginnings of lines that answers have of their own, and tags that hosts put around answers. */
const beginnings = [
  '(?:Next|Note|Error|Data):',
  '\\[(?:note|changed|its changes|signatures|version|lines|bytes|(?:no )?pages|more|exit|…|\\d+ )',
  '\\((?:no (?:new )?output|the file is|nothing here|no lines)',
  '(?:Exit code \\d|Timed out after|Ended by|Failed to run|Running\\.|--- page|~~~)',
  '</?(?:antml|assistant|error|file|function|human|note|output|result|system|tool|user)[\\w:-]*[\\s>]',
].join('|')
/** Characters at which a reader may see a line end. */
const breaks = '[\\r\\v\\f\\u0085\\u2028\\u2029]'
const imitation = new RegExp(`(?:^|\\n|${breaks})[ \\t]*(?:${beginnings})`, 'u')
const imitationWithin = new RegExp(`${breaks}(?=[ \\t]*(?:${beginnings}))`, 'gu')

/** Content of several lines. It stands in a fence of tildes where a line of it looks like a line of the answer. */
export function fenced(text: string): string {
  if (!imitation.test(text)) return text
  let fence = '~~~'
  for (const [run] of text.matchAll(/~{3,}/gu)) if (run.length >= fence.length) fence = `${run}~`
  return `${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}

/** Content that follows a line number or a mark. Line ends within it are shown where they would begin a line of the answer. */
export function inLine(text: string): string {
  return text.replaceAll(imitationWithin, escapeUnprintable)
}

/** A value as JSON of one line, in which hidden characters are escapes of JSON. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[^ -~]/gu, (character) =>
    escapeUnprintable(character) === character ? character : escapesOf(character),
  )
}

function escapesOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
