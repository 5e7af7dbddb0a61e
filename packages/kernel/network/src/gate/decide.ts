import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'

import { isHeaderValue } from '../requests/check.ts'
import { ruleFor } from '../requests/judge.ts'
import type { RequestAnswer, RequestTransform } from '../requests/types.ts'
import type { Destination } from './passage.ts'
import { type Refusal, refusals } from './refusals.ts'

export type Decision =
  | { readonly headers: OutgoingHttpHeaders }
  | { readonly answer: RequestAnswer }
  | { readonly refusal: Refusal }

/** Decides about a request by the rules of its host. Without rules, the request passes. */
export async function decide(
  request: IncomingMessage,
  { rules, isSecure = false }: Pick<Destination, 'rules' | 'isSecure'>,
): Promise<Decision> {
  if (rules === undefined) return { headers: {} }
  const { method = '', url = '' } = request
  const rule = ruleFor(request, rules)
  if (rule === 'long') return { refusal: refusals.longPath() }
  if (rule === undefined) return { refusal: refusals.request(method, url.split('?', 1)[0] ?? '') } // @defence a request that no rule of its host allows: are refused where no rule matches
  if ('unclear' in rule) return { refusal: refusals.unclear(rule.unclear) }
  const { respond, transform: { headers = {} } = {} } = rule
  if (respond !== undefined) return { answer: respond }
  // without TLS, a credential could be read on its way
  if (!isSecure && Object.keys(headers).length > 0) return { refusal: refusals.cleartext() }
  const values = await valuesOf(headers)
  return values === undefined ? { refusal: refusals.credential() } : { headers: values }
}

/** The current values of headers; `undefined` if a value is unavailable or invalid. */
async function valuesOf(headers: NonNullable<RequestTransform['headers']>): Promise<OutgoingHttpHeaders | undefined> {
  try {
    const values = await Promise.all(
      Object.entries(headers).map(
        async ([name, value]) => [name, typeof value === 'string' ? value : await value()] as const,
      ),
    )
    return values.every(([, value]) => isHeaderValue(value)) ? Object.fromEntries(values) : undefined
  } catch {
    // the error is dropped, because its text could contain the credential; the refusal names the fault
    return undefined
  }
}
