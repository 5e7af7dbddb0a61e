import { createSshMachine } from '@ws/executor-machine/ssh'
import { expect, it } from 'vitest'

it.each(['-oProxyCommand=id', '', 'a b', '-', 'a\nb'])('refuses a host or user that ssh would misread: %j', (name) => {
  expect(() => createSshMachine({ host: name })).toThrow(/`host` must not/u)
  expect(() => createSshMachine({ host: 'there', user: name })).toThrow(/`user` must not/u)
})
