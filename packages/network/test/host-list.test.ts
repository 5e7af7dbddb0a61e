import { describe, expect, it } from 'vitest'

import { type HostEntry, HostList, parseHost, repeatedHost } from '../src/hosts/host-list.ts'
import { hosts } from '../src/hosts/presets.ts'

const read = (text: string): HostEntry => {
  const entry = parseHost(text)
  if ('problem' in entry) throw new Error(entry.problem)
  return entry
}
const listOf = (...texts: readonly string[]) => new HostList(texts.map(read))

describe('a list of hosts', () => {
  it.each([
    ['registry.npmjs.org', 'registry.npmjs.org', 443],
    ['registry.npmjs.org', 'REGISTRY.npmjs.ORG.', 80],
    ['Example.ORG.', 'example.org', 443],
    ['*.npmjs.org', 'a.npmjs.org', 443],
    ['*.npmjs.org', 'a.b.npmjs.org', 443],
    ['db.internal:5432', 'db.internal', 5432],
    ['*.example.org:22', 'git.example.org', 22],
    ['localhost', 'localhost', 80],
  ])('[NW1] with %s has %s:%d', (text, name, port) => {
    expect(listOf(text).find(name, port)).toMatchObject({ text })
  })

  it.each([
    ['registry.npmjs.org', 'npmjs.org', 443],
    ['registry.npmjs.org', 'registry.npmjs.org.evil.test', 443],
    ['registry.npmjs.org', 'registry.npmjs.org', 8080],
    ['*.npmjs.org', 'npmjs.org', 443],
    ['*.npmjs.org', 'evilnpmjs.org', 443],
    ['*.npmjs.org', '.npmjs.org', 443],
    ['*.npmjs.org', 'a b.npmjs.org', 443],
    ['*.npmjs.org', 'npmjs.org.evil.test', 443],
    ['db.internal:5432', 'db.internal', 443],
  ])('[NW1] with %s has not %s:%d', (text, name, port) => {
    expect(listOf(text).find(name, port)).toBeUndefined()
  })

  it.each([
    ['https://example.org', /not a URL/],
    ['example.org/x', /not a URL/],
    ['1.2.3.4', /not an address/],
    ['[::1]:80', /not an address/],
    ['::1', /not an address/],
    ['0x7f.1', /a name|an address/],
    ['127.1', /a name|an address/],
    ['example.org:0', /port from 1 to 65535/],
    ['example.org:65536', /port from 1 to 65535/],
    ['example.org:http', /port from 1 to 65535/],
    ['example.org:', /port from 1 to 65535/],
    ['a.*.org', /whole first label/],
    ['a*.example.org', /whole first label/],
    ['*', /whole first label/],
    ['*.org', /two labels/],
    ['-a.org', /a name such as/],
    ['a..org', /a name such as/],
    ['', /a name such as/],
    [`${'a'.repeat(64)}.org`, /a name such as/],
    ['exämple.org', /a name such as/],
  ])('refuses %s in one sentence', (text, problem) => {
    expect(parseHost(text)).toMatchObject({ problem: expect.stringMatching(problem) })
  })

  it.each([
    [['a.org', 'A.org.'], 'a.org'],
    [['a.org', 'a.org:443'], 'a.org'],
    [['*.a.org', '*.a.org'], '*.a.org'],
  ])('finds two entries for one host in %j', (texts, first) => {
    expect(repeatedHost(texts.map(read))).toEqual({ index: 1, first })
  })

  it('takes other ports and names below for other entries', () => {
    expect(repeatedHost(['a.org', 'a.org:22', '*.a.org', 'b.a.org'].map(read))).toBeUndefined()
  })
})

describe('the presets', () => {
  it.each(Object.entries(hosts))('[NW1] %s can be listed, and name exact hosts', (_, names) => {
    const entries = names.map((name) => read(name))
    expect(repeatedHost(entries)).toBeUndefined()
    expect(entries.every(({ isWildcard, port }) => !isWildcard && port === undefined)).toBe(true)
  })
})
