import type { IncomingMessage } from 'node:http'

import { checkOption } from '@ws/core/options'
import { describe, expect, it } from 'vitest'

import { requestRulesShape } from '../../src/requests/check.ts'
import { ruleFor } from '../../src/requests/judge.ts'
import type { RequestMatch, RequestRule } from '../../src/requests/types.ts'

function judge(
  url: string,
  rules: readonly RequestRule[],
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): number | string | undefined {
  const headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
  const rule = ruleFor({ method, url, headers, headersDistinct } as unknown as IncomingMessage, rules)
  if (typeof rule !== 'object') return rule
  return 'unclear' in rule ? 'unclear' : rules.indexOf(rule)
}

const paths = (...all: readonly string[]): RequestRule[] => all.map((path) => ({ match: { path } }))

describe('the path of a request', () => {
  it.each([
    ['/*', '/a', 0],
    ['/*', '/', 0],
    ['/*', '/a/b', undefined],
    ['/', '/', 0],
    ['/', '/a', undefined],
    ['/a/', '/a/', 0],
    ['/a/', '/a/b', undefined],
    ['/a/**', '/a/', 0],
    ['/a/**', '/a', undefined],
    ['/a/**/z', '/a/b/c/z', 0],
    ['/a/**/z', '/a/z', undefined],
    ['/a**z', '/abc/xyz', 0],
    ['/a**z', '/az', 0],
    ['/a*z', '/a/z', undefined],
    ['/**.tar.gz', '/x/y-1.tar.gz', 0],
    ['/a(b)+[c]{d,e}?f!'.replace('?', '%3f'), '/a(b)+[c]{d,e}%3Ff!', 0],
    ['/a[bc]', '/ab', undefined],
    ['/a%2ab', '/a*b', 0],
    ['/a%2ab', '/axb', undefined],
    ['/caf%C3%A9/a b'.replace(' ', '%20'), '/caf\u00c3\u00a9/a%20b', 0],
    ['/café', '/caf%c3%a9', 0],
    ['/*', '*', undefined],
  ])('[NW7] %s is compared with %s: %s', (path, url, expected) => {
    expect(judge(url, paths(path))).toBe(expected)
  })

  it.each<readonly [path: string, url: string]>([
    // an encoded slash
    ['/users/*', '/users/me%2fkeys'],
    ['/users/*', '/users/me%2Fkeys'],
    ['/users/*', '/users/me%252fkeys'],
    ['/users/*', '/users/me%25252fkeys'],
    ['/users/*', '/users/me%EF%BC%8Fkeys'],
    ['/users/*', '/users/@me%2fkeys%2fall'],
    // a backslash
    ['/users/*', '/users/me%5ckeys'],
    ['/users/*', '/users/me\\keys'],
    ['/users/*', '/users/me%255ckeys'],
    // dots
    ...[
      ...[
        '..',
        '%2e%2e',
        '.%2e',
        '%252e%252e',
        '..%20',
        '%20..',
        '..%09',
        '..%00',
        '%00..',
        '.',
        '%2e',
        '..;',
        '..;a=b',
      ],
      ...['%c0%ae%c0%ae', '%e0%80%ae%e0%80%ae', '%u002e%u002e', '%%32%65%%32%65', '%25u002e', '%ef%bc%8e%ef%bc%8e'],
      ...['..%2f', '..%5c', '..%3b', '..%253b', '..%E2%80%8B', '%E2%80%A5', '...', '%2e%2e%2fx', '..%3f', '..%23'],
    ].map((dots) => ['/open/**', `/open/${dots}/x`] as const),
    ['/open/**', '/open/..'],
    ['/open/**', '/open/x/..%2f..%2fy'],
    ['/open/**', `/open/%${'25'.repeat(900)}2e`],
    // bytes that are not text
    ...[
      '%00',
      '%0a',
      '%0d%0a',
      '%7f',
      '%01',
      '%C2%80',
      '%',
      '%4z',
      '%zz',
      '%u0041',
      '%c0%af',
      '%ff',
      '%ED%A0%80',
      '%ef%bf%be%00',
    ].map((bytes) => ['/open/**', `/open/a${bytes}b`] as const),
    ['/open/**', '/open/a\u0001b'],
    ['/open/**', '/open/a#b'],
    ['/open/**', '/open/a?b#c'],
    // another rule in another reading
    ['/files/*/raw', '/files/secret%3f/raw'],
    ['/files/*/raw', '/files/secret%23/raw'],
    ['/a/*/b', '/a//b'],
    ['/*/*/x', '/open//x'],
    ['/*/x/**', '//x/y'],
    ['/a/*', '/a/b;c/..'],
    ['/a/*b', '/a/;b'],
  ])('[NW7] %s does not let %s pass', (path, url) => {
    expect(judge(url, paths(path))).toBe('unclear')
  })

  it.each([
    ['//x/secret', 1],
    ['/SECRET', 1],
    ['/secret/', 1],
    ['/secret.', 1],
    ['/secret%20', 1],
    ['/secret;a', 1],
    ['/%73ecret', 0],
    ['/secret', 0],
    ['/other', 1],
  ])('[NW7] a rule before a wider one is not passed by as %s', (url, rule) => {
    const expected = url === '/other' || rule === 0 ? rule : 'unclear'
    expect(judge(url, paths('/secret', '/**'))).toBe(expected)
  })

  it('[NW7] may be written as honest programs write it', () => {
    // npm, for a package with a scope
    for (const path of ['/@scope/**', '/@scope/name', '/@scope%2fname', '/@scope%2Fname', '/**'])
      expect(judge('/@scope%2fname', paths(path))).toBe(0)
    expect(judge('/@scope%2fname', paths('/*', '/users/**'))).toBeUndefined()
    // GitLab and Jenkins
    expect(judge('/projects/acme%2Fapp/issues', paths('/projects/acme%2fapp/**'))).toBe(0)
    expect(judge('/projects/acme%2Fapp/issues', paths('/projects/**'))).toBe(0)
    expect(judge('/projects/acme%2Fapp/issues', paths('/projects/acme/app/**'))).toBeUndefined()
    expect(judge('/job/a%252Fb/1', paths('/job/a%252fb/*'))).toBe(0)
    expect(judge('/job/a%252Fb/1', paths('/job/**'))).toBe(0)
    for (const url of [
      '/x/.git/HEAD',
      '/x/a..b',
      '/x/...a',
      '/x/100%25',
      '/x/a%20b',
      '/x/a;v=1',
      '/x//y',
      '/x/%C3%A4',
      '/x/~a/@b+c,d',
    ])
      expect(judge(url, paths('/x/**'))).toBe(0)
    expect(judge('/x/1.0.', paths('/x/*'))).toBe(0)
  })

  it('[NW7] is compared in time that does not multiply', () => {
    const start = performance.now()
    expect(judge(`/releases/${'-'.repeat(2_000)}`, paths('/releases/*-*-*.tar.gz'))).toBeUndefined()
    expect(performance.now() - start).toBeLessThan(1_000)
  })

  it('[NW7] is compared in time, whatever its pattern and its escapes', () => {
    const pattern = '/releases/*-*-*.tar.gz'
    const start = performance.now()
    expect(judge(`/releases/${'-'.repeat(2_000)}`, paths('/**-**-**-**/*-*-*-*x'))).toBeUndefined()
    expect(judge(`/${'-/'.repeat(1_000)}`, paths('/**-**-**-**-**-**x'))).toBeUndefined()
    for (const piece of ['.', '/', ';', '%2f', '@a%2f', '?', 'A%2f;', '%20.', '%ef%b7%ba', '/@a%2f', '%25', ' '])
      judge(`/x${piece.repeat(2_000 / piece.length)}`, paths('/**', pattern))
    expect(performance.now() - start).toBeLessThan(1_500)
  })
})

describe('other parts of a request', () => {
  it.each([
    [{ query: { dry: '1' } }, '/a?dry=1', {}, 0],
    [{ query: { dry: '1' } }, '/a?x=1;dry=0&dry=1', {}, undefined],
    [{ query: { dry: '1' } }, '/a?x=1#&dry=1', {}, 'unclear'],
    [{ headers: { 'X-Kind': 'a' } }, '/a', { 'x-kind': 'a' }, 0],
    [{ headers: { 'X-Kind': 'a' } }, '/a', { 'x-kind': 'a', x_kind: 'b' }, undefined],
    [{ method: 'POST' }, '/a', { 'x-http-method-override': 'DELETE' }, 'unclear'],
    [{ path: '/a' }, '/a', { 'x-http-method-override': 'DELETE' }, 0],
    [{ path: '/a' }, '/a', { 'x-original-url': '/b' }, 'unclear'],
    [{ method: 'POST', headers: { 'X-Http-Method-Override': 'GET' } }, '/a', { 'x-http-method-override': 'GET' }, 0],
  ] as const)('[NW7] %j and %s %j: %s', (match, url, headers, expected) => {
    expect(judge(url, [{ match: match as RequestMatch }], headers, 'POST')).toBe(expected)
  })
})

it.each([
  'a',
  '/a?b',
  '/a/../b',
  '/a/%2e%2e',
  '/a\\b',
  '/a%5cb',
  '/%zz',
  '/a%00',
  '/**'.repeat(9),
  `/${'a'.repeat(2_000)}`,
])('[NW7] a rule that no request can meet is refused: %.20s', (path) => {
  const check = (): void => checkOption('test', 'requests', { 'api.test': [{ match: { path } }] }, requestRulesShape)
  expect(check).toThrow('must be a path such as')
})
