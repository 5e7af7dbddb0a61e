import type { BubblewrapExecutorOptions } from '@ws/executor-bubblewrap'

import type { RequestsConfig } from './schema.ts'
import { UsageError } from '../errors.ts'

type Network = Exclude<NonNullable<BubblewrapExecutorOptions['network']>, string>
type Requests = NonNullable<Network['requests']>

/** Replaces variables in the rules by their values. @throws UsageError for an unset variable */
export function withVariables(rules: RequestsConfig): Requests {
  return Object.fromEntries(
    Object.entries(rules).map(([host, list]) => [
      host,
      list.map(({ transform, ...rule }) => ({
        ...rule,
        ...(transform && { transform: { headers: expandVariables(transform.headers ?? {}) } }),
      })),
    ]),
  )
}

function expandVariables(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{(\w+)\}/gu, (_, key: string) => valueOf(key)),
    ]),
  )
}

function valueOf(name: string): string {
  const value = process.env[name]
  if (value !== undefined && value !== '') return value
  throw new UsageError(
    `--config: executorOptions.bubblewrap.network.requests names the variable ${name}, which is not set; set it, or take the rule out`,
  )
}
