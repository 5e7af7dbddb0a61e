/** @module-tag rounds */
import { createPolicy, rules } from '@ws/core'
import type { Rule, VirtualPath } from '@ws/core'
import type { Access } from '../../src/contract/policy.ts'
import type { Need } from '../../src/contract/operations.ts'
import { RulePolicy } from '../../src/policy/policy.ts'
import type { SubtreeRule } from '@ws/core/executor'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { propertyRounds } from '@ws/test-fixtures'

function decide(list: readonly Rule[], path: string, need: Need, policy = createPolicy(list)) {
  const operation = need === 'read' ? 'read' : 'write'
  return policy.decide({ operation, path: path as VirtualPath, need })
}

function effect(list: readonly Rule[], path: string, need: Need): string {
  return decide(list, path, need).effect
}

describe('confining rules', () => {
  it('[PM2] withinWorkspace allows the root and what lies below, by whole components', () => {
    const list = [rules.withinWorkspace('/threads/t1')]
    expect(effect(list, '/threads/t1', 'write')).toBe('allow')
    expect(effect(list, '/threads/t1/a/b', 'read')).toBe('allow')
    expect(effect(list, '/threads', 'read')).toBe('deny')
    expect(effect(list, '/', 'read')).toBe('deny')
  })

  it('[PC18] threads/t1 never matches threads/t12', () => {
    expect(effect([rules.withinWorkspace('/threads/t1')], '/threads/t12/a', 'read')).toBe('deny')
    expect(effect([rules.deny('/threads/t1')], '/threads/t12/a', 'read')).toBe('allow')
    expect(effect([rules.withinOutput('/threads/t12')], '/threads/t1/a', 'write')).toBe('deny')
  })

  it('[PM2] withinOutput leaves reading alone and refuses writing outside, with the remedy', () => {
    const list = [rules.withinOutput('/out')]
    expect(effect(list, '/notes/a.md', 'read')).toBe('allow')
    expect(effect(list, '/out/a.md', 'write')).toBe('allow')
    expect(decide(list, '/notes/a.md', 'write')).toEqual({
      effect: 'deny',
      code: 'EACCES',
      rule: 'withinOutput(/out)',
      reason: 'is outside the output root `/out`',
      remedy: 'write below `/out`',
    })
  })

  it('withinOutput can be write-only', () => {
    const list = [rules.withinOutput('/out', { readable: false })]
    expect(effect(list, '/out/a', 'write')).toBe('allow')
    expect(effect(list, '/out/a', 'read')).toBe('deny')
    expect(effect(list, '/a', 'read')).toBe('allow')
  })

  it('[PM9] reads from the output and writes to the workspace are refused when the two are disjoint', () => {
    const list = [rules.withinWorkspace('/workspace'), rules.withinOutput('/output')]
    expect(effect(list, '/output/a', 'read')).toBe('deny')
    expect(effect(list, '/workspace/a', 'write')).toBe('deny')
    expect(effect(list, '/workspace/a', 'read')).toBe('allow')
  })

  it('inside one rule the longest path decides', () => {
    const list = [rules.subtree({ name: 'r', entries: { '/a': 'none', '/a/b': 'read-write', '/a/b/c': 'read-only' } })]
    expect(effect(list, '/a/x', 'read')).toBe('deny')
    expect(effect(list, '/a/b/x', 'write')).toBe('allow')
    expect(effect(list, '/a/b/c/x', 'write')).toBe('deny')
    expect(effect(list, '/a/b/c/x', 'read')).toBe('allow')
  })
})

describe('exceptions', () => {
  it('[PM5] writing outside the output root is an explicit exception with a justification', () => {
    const list = [rules.withinOutput('/out'), rules.allow('/.cache', { justification: 'the build cache' })]
    expect(effect(list, '/.cache/x', 'write')).toBe('allow')
    expect(effect(list, '/other', 'write')).toBe('deny')
    expect(() => rules.allow('/x', { justification: ' ' })).toThrow(/justification/)
  })

  it('an exception never widens a deny rule that it does not name', () => {
    const list = [
      rules.deny('/secrets'),
      rules.withinOutput('/out'),
      rules.allow('/secrets/public', { justification: 'documented' }),
    ]
    expect(effect(list, '/secrets/public/a', 'read')).toBe('deny')
    const named = [
      rules.deny('/secrets'),
      rules.allow('/secrets/public', { justification: 'x', from: ['deny(/secrets)'] }),
    ]
    expect(effect(named, '/secrets/public/a', 'read')).toBe('allow')
  })

  it('an exception to nothing, or to an unknown rule, is an error', () => {
    expect(() => createPolicy([rules.allow('/x', { justification: 'x' })])).toThrow(/exception to nothing/)
    expect(() => createPolicy([rules.deny('/a'), rules.allow('/x', { justification: 'x', from: ['no'] })])).toThrow(
      /unknown rule/,
    )
  })
})

describe('denied names', () => {
  it('hold for variants in case and normalisation, and for what lies below', () => {
    const list = [rules.deny('/conf/Café/.env')]
    for (const variant of ['/conf/Café/.ENV', '/CONF/Café/.env/x', '/conf/Cafe\u0301/.env', '/conf/CAFÉ/.Env']) {
      expect(effect(list, variant, 'read'), variant).toBe('deny')
    }
    expect(effect(list, '/conf/Café/.envrc', 'read')).toBe('allow')
  })

  it('leave a spelling alone that the rule itself names', () => {
    const list = [rules.subtree({ name: 'r', entries: { '/Data': 'none', '/data': 'read-write' } })]
    expect(effect(list, '/data/x', 'write')).toBe('allow')
    expect(effect(list, '/Data/x', 'read')).toBe('deny')
    expect(effect(list, '/DATA/x', 'read')).toBe('deny')
  })
})

describe('predicates', () => {
  it('restrict, and what throws refuses', () => {
    const broken = rules.predicate({
      name: 'broken',
      test: () => {
        throw new Error('no')
      },
    })
    expect(decide([broken], '/a', 'read')).toMatchObject({ effect: 'deny', rule: 'broken' })
    expect(effect([rules.denyGlob('*.pem')], '/keys/a.pem', 'read')).toBe('deny')
    expect(effect([rules.denyGlob('*.pem')], '/keys/a.txt', 'read')).toBe('allow')
    expect(effect([rules.onlyExtensions(['.md'])], '/a.txt', 'write')).toBe('deny')
    expect(effect([rules.onlyExtensions(['.md'])], '/a.md', 'write')).toBe('allow')
  })
})

describe('bad rules', () => {
  it('are refused with what is wrong', () => {
    expect(() => rules.deny('/a/../b')).toThrow(/EINVAL/)
    expect(() => rules.deny('/../b')).toThrow(/EINVAL.*`\.\.`/)
    expect(() => rules.subtree({ name: 'x', entries: { '/a': 'all' as Access } })).toThrow(
      /`entries\.\/a` must be `read-write`.*`"all"`/,
    )
    expect(() => createPolicy([rules.deny('/a'), rules.deny('/a')])).toThrow(/same name/)
    expect(() => createPolicy([undefined as unknown as Rule])).toThrow(/`rules\[0\]` must be a rule/)
  })
})

describe('the scratch', () => {
  it('is exempt from rules that do not name it', () => {
    const exempt = (list: readonly Rule[]) => new RulePolicy(list, { exempt: '/tmp' as VirtualPath })
    const list = [rules.withinWorkspace('/proj')]
    expect(decide(list, '/tmp/a', 'write', exempt(list)).effect).toBe('allow')
    const denied = [rules.deny('/tmp/x')]
    expect(decide(denied, '/tmp/x', 'read', exempt(denied)).effect).toBe('deny')
    expect(decide(list, '/tmpx', 'write', exempt(list)).effect).toBe('deny')
  })

  it('[RU7] is refused as an option of a policy, with what to do', () => {
    expect(() => createPolicy([], { exempt: '/tmp' })).toThrow(/`exempt` is not an option any more; leave it out/)
    expect(() => createPolicy([], { other: 1 })).toThrow(/`other` is not an option; leave it out/)
  })
})

describe('against an independent model', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const path = fc.array(name, { maxLength: 4 }).map((names) => `/${names.join('/')}` as VirtualPath)
  const access = fc.constantFrom<Access>('read-write', 'read-only', 'write-only', 'none')
  const rule = fc
    .uniqueArray(fc.record({ path, access }), { minLength: 1, maxLength: 4, selector: (entry) => entry.path })
    .map((entries): SubtreeRule => ({ kind: 'subtree', name: '', entries }))
  const ruleList = fc
    .array(rule, { maxLength: 5 })
    .map((list) => list.map((one, index): SubtreeRule => ({ ...one, name: `r${index}` })))

  it('[PM2] decides the same as a slow reading of the definition', () => {
    fc.assert(
      fc.property(ruleList, path, fc.constantFrom<Need>('read', 'write'), (list, at, need) => {
        expect(effect(list, at, need)).toBe(list.every((one) => slowly(one, at, need)) ? 'allow' : 'deny')
      }),
      { ...propertyRounds({ quick: 500, seconds: 5 }), seed: 7 },
    )
  })

  function slowly({ entries }: SubtreeRule, at: string, need: Need): boolean {
    const parts = at.split('/').filter(Boolean)
    for (let length = parts.length; length >= 0; length -= 1) {
      const prefix = `/${parts.slice(0, length).join('/')}`
      const found = entries.find((entry) => entry.path === prefix)
      if (found === undefined) continue
      return found.access === 'read-write' || found.access === (need === 'read' ? 'read-only' : 'write-only')
    }
    return true
  }
})
