import { hostLists } from '@ws/core/executor'
import { describe, expect, it } from 'vitest'

import { hosts } from '../src/hosts/presets.ts'

describe('the presets', () => {
  it.each(Object.entries(hosts))('[NW1] %s can be listed, and name exact hosts', (_, names) => {
    const entries = hostLists.read(names, { operation: 'rules', option: 'hosts' })
    expect(entries.every(({ isWildcard, port }) => !isWildcard && port === undefined)).toBe(true)
  })
})
