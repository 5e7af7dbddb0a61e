import { describe, expect, it } from 'vitest'

import { createPolicy, rules } from '../../src/index.ts'
import { type HostEntry, HostList, parseHost, readHosts } from '../../src/policy/host-list.ts'

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

  const readAll = (texts: readonly string[]) => readHosts(texts, { operation: 'rules', option: 'hosts' })

  it.each([
    [['a.org', 'A.org.'], 'a.org'],
    [['a.org', 'a.org:443'], 'a.org'],
    [['*.a.org', '*.a.org'], '*.a.org'],
  ])('refuses two entries for one host in %j', (texts, first) => {
    expect(() => readAll(texts)).toThrow(`\`hosts[1]\` must not repeat the entry \`${first}\``)
  })

  it('takes other ports and names below for other entries', () => {
    expect(readAll(['a.org', 'a.org:22', '*.a.org', 'b.a.org'])).toHaveLength(4)
  })
})

describe('a list that rules narrow', () => {
  const narrow = (own: readonly string[], ...lists: readonly (readonly string[])[]) =>
    listOf(...own).narrow(lists.map((hosts, index) => rules.allowHosts(hosts, { name: `r${index}` })))

  it.each([
    ['the same name', ['a.org', 'b.org'], ['a.org'], ['a.org:80', 'a.org:443']],
    ['a name below a wildcard of the executor', ['*.a.org'], ['x.a.org'], ['x.a.org:80', 'x.a.org:443']],
    ['a name below a wildcard of the rule', ['x.a.org', 'a.org'], ['*.a.org'], ['x.a.org:80', 'x.a.org:443']],
    ['the narrower of two wildcards', ['*.a.org'], ['*.x.a.org'], ['y.x.a.org:80', 'y.x.a.org:443']],
    ['one of two ports', ['a.org'], ['a.org:443'], ['a.org:443']],
    ['a port that only the rule has', ['a.org'], ['a.org:22'], []],
    ['another name', ['a.org'], ['b.org'], []],
    ['an empty rule', ['a.org'], [], []],
  ])('[NW4] has what both have: %s', (_, own, hosts, reached) => {
    const list = narrow(own, hosts)
    const names = ['a.org', 'b.org', 'x.a.org', 'y.x.a.org']
    const found = names.flatMap((name) =>
      [22, 80, 443].flatMap((port) => (list.find(name, port) === undefined ? [] : [`${name}:${port}`])),
    )
    expect(found).toEqual(reached)
    expect(list.entries.every(({ text }) => own.includes(text))).toBe(true)
    expect(new Set(list.ports)).toEqual(new Set(found.map((one) => Number(one.split(':')[1]))))
  })

  it('[NW6] names the rule that closes a host, and none for a host that the executor does not have', () => {
    const list = narrow(['*.a.org', 'b.org'], ['x.a.org', 'b.org', 'c.org'], ['x.a.org'])
    expect(list.closedBy('y.a.org', 443)?.name).toBe('r0')
    expect(list.closedBy('b.org')?.name).toBe('r1')
    expect(list.closedBy('c.org', 443)).toBeUndefined()
  })

  it.each([
    ['api.test', /`hosts` must be a list of strings/],
    [['a.org', '10.0.0.1'], /`hosts\[1\]` must be a name, not an address, got `10\.0\.0\.1`/],
    [['a.org:0'], /`hosts\[0\]` must have a port from 1 to 65535/],
    [['a.*.org'], /`hosts\[0\]` can have a wildcard only as its whole first label/],
    [['a.org', 'A.org.:80'], /`hosts\[1\]` must not repeat the entry `a\.org`/],
  ])('is refused in one sentence where it means nothing: %j', (hosts, message) => {
    expect(() => rules.allowHosts(hosts as string[])).toThrow(message)
    expect(() => createPolicy([{ kind: 'hosts', name: 'own', hosts: hosts as string[] }])).toThrow(/EINVAL/)
  })
})
