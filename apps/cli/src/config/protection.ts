import { rules, type Rule } from '@ws/core'

import type { Settings } from './settings.ts'

export function missingRules(
  { config }: Pick<Settings, 'config'>,
  kinds: readonly ('protectSecrets' | 'protectHooks')[] = ['protectSecrets', 'protectHooks'],
): Rule[] {
  const given = config?.rules?.map(({ rule }) => rule) ?? []
  return kinds.filter((kind) => !given.includes(kind)).map((kind) => rules[kind]())
}
