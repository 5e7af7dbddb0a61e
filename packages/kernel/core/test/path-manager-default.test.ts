import { beforeEach, expect, it } from 'vitest'

const options = { workspace: '/project', output: '/results' }
let fresh: typeof import('../src/policy/path-manager-default.ts')

let loaded = 0
beforeEach(async () => {
  // the process-wide manager is set once: each test loads the module anew
  fresh = (await import(`../src/policy/path-manager-default.ts?${++loaded}`)) as typeof fresh
})

it('[PM1] use before configuration is an error that says what to call', () => {
  expect(() => fresh.getPathManager()).toThrow(
    expect.objectContaining({ code: 'EINVAL', message: expect.stringContaining('configurePathManager(') }),
  )
})

it('[PM1] it is configured once; afterwards everybody gets the same manager', () => {
  const manager = fresh.configurePathManager(options)
  expect(fresh.getPathManager()).toBe(manager)
  expect(() => fresh.configurePathManager({ ...options, output: '/elsewhere' })).toThrow(
    expect.objectContaining({ code: 'EEXIST' }),
  )
  expect(fresh.getPathManager().resolveWrite('a')).toBe('/results/a')
})

it('[PM1] a configuration that fails leaves it unconfigured', () => {
  expect(() => fresh.configurePathManager({ ...options, output: 'relative' })).toThrow()
  expect(() => fresh.getPathManager()).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  expect(fresh.configurePathManager(options)).toBe(fresh.getPathManager())
})
