import { hostLists } from '@ws/core/executor'

import type { DialProblem } from '../resolve.ts'

export interface Refusal {
  readonly outcome: 'denied' | 'failed'
  /** The workspace's rule; absent if the executor's list, or the gate itself, refused the host. */
  readonly rule?: string | undefined
  /** A part of a sentence, printed after the host. */
  readonly reason: string
  readonly remedy: string
}

const denied = (reason: string, remedy: string): Refusal => ({ outcome: 'denied', reason, remedy })
const failed = (reason: string, remedy: string): Refusal => ({ outcome: 'failed', reason, remedy })

export const refusals = {
  unlisted: (list: hostLists.List, name: string, port?: number): Refusal => {
    const rule = list.closedBy(name, port)
    return { outcome: 'denied', rule: rule?.name, ...hostLists.unlisted(name, port, rule) }
  },
  own: () =>
    denied(
      'is the loopback of commands, and nothing listened there',
      'start the server before, in this command or one that shares its loopback; those of this machine are not reached',
    ),
  datagram: () => denied('was sent a datagram (UDP), and commands reach hosts by TCP alone', 'use TCP'),
  otherName: (name: string) =>
    denied(`was asked for over a connection to \`${name}\``, 'ask for each host over a connection of its own'),
  unjudged: (problem: string) =>
    denied(`was not reached: the connection ${problem}`, 'use TLS with SNI on port 443, and HTTP/1.1 on port 80'),
  request: (method: string, path: string) =>
    denied(
      `was not asked: no rule for it allows \`${method.slice(0, 20)} ${path.slice(0, 200)}\``,
      'do without this request, or ask the operator for a rule in `network.requests`',
    ),
  unclear: (problem: string) =>
    denied(`was not asked: ${problem}, and it could be read as another one`, 'write the request plainly, without that'),
  longPath: () =>
    denied('was not asked: the path is longer than its rules look at', 'use a path of at most 2,048 bytes'),
  cleartext: () => denied('was not asked: the rule for this request adds to it, which needs TLS', 'ask by `https`'),
  credential: () => failed('was not asked: what its rule adds could not be had', 'tell the operator'),
  untrusted: () => failed('was not asked: it did not prove its name by a certificate', 'check the name'),
  tunnel: () => denied('cannot be used as a proxy', 'connect to the host itself'),
  tooMany: (connections: number) =>
    denied(`was not reached: ${connections} connections are open already`, 'use fewer connections at a time'),
  tooMuch: (bytes: number) =>
    denied(`was cut off: the command has moved ${bytes} bytes, its limit`, 'transfer less in one command'),
  answer: () => failed('gave an answer that HTTP/1.1 does not allow', 'use another host'),
  idle: (milliseconds: number) => failed(`was cut off: nothing came for ${milliseconds} ms`, 'try again'),
  dial: (problem: DialProblem): Refusal => dialRefusals[problem],
} as const

const dialRefusals: Readonly<Record<DialProblem, Refusal>> = {
  onion: denied('can only be reached through Tor', 'use another host'),
  private: denied(
    'has an address that is not public',
    'do without it, or ask the operator for the address in `addresses`, beside the list of hosts',
  ),
  unknown: failed('was not found', 'check the name'),
  unreachable: failed('cannot be reached', 'try again later'),
}
