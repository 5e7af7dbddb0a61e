import { quotePath, WorkspaceError } from '@ws/core'
import type { hostLists } from '@ws/core/executor'
import { option, type OptionShape, type OptionShapes } from '@ws/core/options'

import { isPattern } from './path.ts'
import type { RequestAnswer, RequestMatch, RequestRule, RequestRules, RequestTransform } from './types.ts'

const token = /^[\w!#$%&'*+.^`|~-]{1,128}$/u
/** Headers that decide where a request goes, or how it is sent. A rule cannot set them. */
const carried: ReadonlySet<string> = new Set([
  ...['host', 'connection', 'content-length', 'expect', 'keep-alive', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings'],
])

const isValue = (value: unknown): boolean => typeof value === 'string' && isHeaderValue(value)
const method = (value: unknown): boolean => typeof value === 'string' && token.test(value)
const nameShape: OptionShape = option.of('a name of a header', (name) => typeof name === 'string' && token.test(name))
const ownNameShape: OptionShape = option.of(
  'a name of a header that does not say where the request goes, or how it is carried',
  (name) => typeof name === 'string' && token.test(name) && !carried.has(name.toLowerCase()),
)

const matchShapes: OptionShapes<RequestMatch> = {
  method: option.of(
    'a method such as `GET`, or a list of them',
    (value) => method(value) || (Array.isArray(value) && value.length > 0 && value.every(method)),
  ),
  path: option.of(
    'a path such as `/repos/*` that begins with `/`, without a query, dots between slashes, and more than eight `**`',
    (value) => typeof value === 'string' && isPattern(value),
  ),
  query: option.map(
    option.of('a name', (name) => typeof name === 'string'),
    option.string,
  ),
  headers: option.map(nameShape, option.string),
}

const transformShapes: OptionShapes<RequestTransform> = {
  headers: option.map(
    ownNameShape,
    option.hidden(
      option.of('text without line ends, or a function', (value) => typeof value === 'function' || isValue(value)),
    ),
  ),
}

const answerShapes: OptionShapes<RequestAnswer> = {
  status: option.required(option.integer(200, 599)),
  headers: option.map(ownNameShape, option.of('text without line ends', isValue)),
  body: option.string,
}

const ruleShapes: OptionShapes<RequestRule> = {
  match: option.options<RequestMatch>(matchShapes),
  transform: option.options<RequestTransform>(transformShapes),
  respond: option.options<RequestAnswer>(answerShapes),
}

export const requestRulesShape: OptionShape = option.map(
  option.of('an entry of `allow`', (name) => typeof name === 'string'),
  option.list(option.options<RequestRule>(ruleShapes), 'a list of rules'),
)

/** Whether text can be a header value: visible characters, blanks and tabs. */
export function isHeaderValue(text: string): boolean {
  return text !== '' && /^[\t\x20-\x7e\x80-\xff]*$/u.test(text)
}

/** Checks rules beyond their shape. @throws WorkspaceError `EINVAL` that names the rule */
export function checkRequestRules(rules: RequestRules, { entries, operation, name }: RequestCheck): void {
  for (const [host, list] of Object.entries(rules)) {
    const place = `${name}[${JSON.stringify(host)}]`
    if (!entries.some(({ text }) => text === host))
      throw refused(
        operation,
        `${quotePath(place)} is for a host that is not in \`allow\``,
        'add it there, as it is written here',
      )
    for (const [index, { transform, respond }] of list.entries()) {
      if (transform !== undefined && respond !== undefined)
        throw refused(
          operation,
          `${quotePath(`${place}[${index}]`)} has both \`transform\` and \`respond\``,
          'leave one of them out',
        )
    }
  }
}

interface RequestCheck {
  readonly entries: readonly hostLists.Entry[]
  readonly operation: string
  readonly name: string
}

function refused(operation: string, reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason, remedy })
}
