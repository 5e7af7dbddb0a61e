import { guaranteeFields, type GuaranteeLevel } from '@ws/core'
import { z } from 'zod'

import { executorNames } from './executors.ts'

const levels = ['kernel', 'interpreter', 'translated', 'none'] as const satisfies readonly GuaranteeLevel[]
const path = z.string().min(1, 'must not be empty')
const name = z.string().min(1, 'must not be empty').optional()

const rule = z.discriminatedUnion('rule', [
  z.strictObject({ rule: z.literal('withinWorkspace'), path, name }),
  z.strictObject({ rule: z.literal('withinOutput'), path, name, readable: z.boolean().optional() }),
  z.strictObject({ rule: z.literal('readOnly'), path, name }),
  z.strictObject({ rule: z.literal('deny'), path, name }),
  z.strictObject({
    rule: z.literal('allow'),
    path,
    name,
    access: z.enum(['read-write', 'read-only', 'write-only', 'none']).optional(),
    from: z.array(z.string().min(1)).min(1).optional(),
    justification: z.string().min(1, 'must say why the exception is needed'),
  }),
])

/** A name and not a value: no secret is ever in a config file. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/u, 'must be the name of an environment variable')

const bucket = {
  bucket: z.string(),
  prefix: z.string().optional(),
  symlinks: z.enum(['off', 'rclonelink']).optional(),
  credentialsFrom: z
    .strictObject({ accessKeyId: variable, secretAccessKey: variable, sessionToken: variable.optional() })
    .optional(),
}

const s3 = z.strictObject({
  ...bucket,
  endpoint: z.string().optional(),
  region: z.string().min(1, 'must not be empty').optional(),
  forcePathStyle: z.boolean().optional(),
})

const r2 = z
  .strictObject({
    ...bucket,
    accountId: z
      .string()
      .regex(/^[0-9A-Za-z]+$/u, 'must be the id of a Cloudflare account')
      .optional(),
    endpoint: z.string().optional(),
  })
  .refine(({ accountId, endpoint }) => (accountId === undefined) !== (endpoint === undefined), {
    message: 'must have `accountId` or `endpoint`, and not both',
  })

/** The same bucket, mounted: commands work in it. */
const rclone = z.strictObject({
  bucket: z.string(),
  prefix: z.string().optional(),
  endpoint: z.string().optional(),
  region: z.string().min(1, 'must not be empty').optional(),
  forcePathStyle: z.boolean().optional(),
  credentialsFrom: bucket.credentialsFrom,
  /** Where its cache is; relative to the config file. */
  directory: path.optional(),
})

/** What can be mounted, by the key that says so. */
const storages = {
  /** A directory; relative to the config file. */
  root: path.optional(),
  s3: s3.optional(),
  r2: r2.optional(),
  rclone: rclone.optional(),
}
const storageKeys = Object.keys(storages) as (keyof typeof storages)[]

const mount = z
  .strictObject({
    /** Where it appears in the workspace. */
    at: path,
    ...storages,
    access: z.enum(['read-write', 'read-only']).optional(),
  })
  .refine((given) => storageKeys.filter((key) => given[key] !== undefined).length === 1, {
    message: `must have one of ${storageKeys.map((key) => `\`${key}\``).join(', ')}`,
  })

const count = z.int().min(1).optional()
/** What each process can be held to. */
const processLimits = { cpuSeconds: count, memoryBytes: count, fileBytes: count, processes: count, openFiles: count }
const env = z.array(z.string().min(1)).optional()

const viewOptions = {
  /** Directories of this machine; relative to the config file. */
  tools: z.array(z.strictObject({ host: path, at: path.optional() })).optional(),
  limits: z.strictObject({ ...processLimits, scratchBytes: count }).optional(),
  /** A delegated cgroup v2 group of this machine. */
  cgroup: z.string().startsWith('/').optional(),
  env,
}

/**
 * `ws.config.json`. Strict: a key that is not known is an error, since a misspelt rule would be no rule. No field takes a
 * secret: what needs one reads it from the environment.
 */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  /** The first is the workspace's root. */
  mounts: z.array(mount).optional(),
  owner: z.union([z.string(), z.strictObject({ uid: z.int().min(1), gid: z.int().min(0) })]).optional(),
  rules: z.array(rule).optional(),
  executors: z.array(z.enum(executorNames)).min(1).optional(),
  executorOptions: z
    .strictObject({
      bubblewrap: z.strictObject({ network: z.enum(['none', 'host']).optional(), ...viewOptions }).optional(),
      proot: z.strictObject(viewOptions).optional(),
      sanitize: z
        .strictObject({
          trustPrograms: z.union([z.literal('all'), z.array(z.string().min(1))]).optional(),
          limits: z.strictObject(processLimits).optional(),
          env,
        })
        .optional(),
    })
    .optional(),
  require: z.union([z.literal('untrusted'), z.partialRecord(z.enum(guaranteeFields), z.enum(levels))]).optional(),
  aliases: z.record(z.string(), z.string()).optional(),
})

export type Config = z.infer<typeof configSchema>
export type RuleConfig = z.infer<typeof rule>
export type MountConfig = z.infer<typeof mount>

/** The first problem of a config, as one sentence that names the place: `mounts[0]: unknown key `acess``. */
export function describeProblem(error: z.ZodError): string {
  const issue = deepest(error.issues)
  if (issue === undefined) return 'is not valid'
  const place = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  const where = place === '' ? '' : `${place.replace(/^\./u, '')}: `
  if (issue.code !== 'unrecognized_keys') return `${where}${firstLower(issue.message)}`
  const keys = issue.keys.map((key) => `\`${key}\``).join(', ')
  return `${where}unknown ${issue.keys.length > 1 ? 'keys' : 'key'} ${keys}; remove or correct it`
}

/** Within a union the alternative that came furthest says most. */
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [issue] = issues
  if (issue?.code !== 'invalid_union') return issue
  const alternatives = issue.errors.map((alternative) => deepest(alternative)).filter((found) => found !== undefined)
  const best = alternatives.find((found) => found.path.length > 0 || found.code === 'unrecognized_keys')
  return best === undefined ? issue : { ...best, path: [...issue.path, ...best.path] }
}

const firstLower = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)
