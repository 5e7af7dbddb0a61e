import { guaranteeFields, type GuaranteeLevel } from '@ws/core/executor'
import { z } from 'zod'

import { executorNames } from './executors.ts'

const levels = ['kernel', 'interpreter', 'translated', 'names', 'none'] as const satisfies readonly GuaranteeLevel[]
const path = z.string().min(1)
const name = z.string().min(1).optional()
const texts = z.record(z.string(), z.string())

/** Rules for requests. The executor checks names and values. */
const requests = z.record(
  z.string(),
  z.array(
    z.strictObject({
      match: z
        .strictObject({
          method: z.union([z.string(), z.array(z.string())]).optional(),
          path: z.string().optional(),
          query: texts.optional(),
          headers: texts.optional(),
        })
        .optional(),
      /** `${NAME}` stands for a variable of `ws`'s environment. */
      transform: z.strictObject({ headers: texts.optional() }).optional(),
      respond: z.strictObject({ status: z.int(), headers: texts.optional(), body: z.string().optional() }).optional(),
    }),
  ),
)

/** Listed hosts. The executor checks the entries. */
const listedHosts = z.strictObject({
  allow: z.array(z.string()),
  addresses: z.array(z.string()).optional(),
  requests: requests.optional(),
  connections: z.int().optional(),
  bytes: z.int().optional(),
  idleTimeout: z.int().optional(),
})

const asking = { name, reason: name, remedy: name }

const rule = z.discriminatedUnion('rule', [
  z.strictObject({ rule: z.literal('withinWorkspace'), path, name }),
  z.strictObject({ rule: z.literal('withinOutput'), path, name, readable: z.boolean().optional() }),
  z.strictObject({ rule: z.literal('readOnly'), path, name }),
  z.strictObject({ rule: z.literal('deny'), path, name }),
  z.strictObject({ rule: z.literal('denyGlob'), glob: path, name }),
  z.strictObject({
    rule: z.literal('ask'),
    globs: z.array(path).min(1),
    access: z.enum(['read-only', 'none']).optional(),
    ...asking,
  }),
  z.strictObject({ rule: z.literal('askHosts'), hosts: z.array(path).min(1), ...asking }),
  z.strictObject({ rule: z.literal('allowHosts'), hosts: z.array(z.string()), name }),
  z.strictObject({ rule: z.literal('publish'), ports: z.array(z.int()), name }),
  z.strictObject({ rule: z.literal('protectSecrets'), name }),
  z.strictObject({ rule: z.literal('protectHooks'), name }),
  z.strictObject({
    rule: z.literal('allow'),
    path,
    name,
    access: z.enum(['read-write', 'read-only', 'write-only', 'none']).optional(),
    from: z.array(z.string().min(1)).min(1).optional(),
    justification: z.string().min(1),
  }),
])

/** The name of an environment variable: config files contain no secrets. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/u, 'the name of an environment variable')

const bucket = {
  bucket: z.string(),
  prefix: z.string().optional(),
  symlinks: z.enum(['off', 'rclonelink']).optional(),
  credentialsFrom: z
    .strictObject({ accessKeyId: variable, secretAccessKey: variable, sessionToken: variable.optional() })
    .optional(),
}

/** The directory of a copy for commands, relative to the config file. */
const replica = path.optional()

/** Fields of every S3 storage. */
const connection = {
  endpoint: z.string().optional(),
  region: z.string().min(1).optional(),
  forcePathStyle: z.boolean().optional(),
}

const s3 = z.strictObject({ ...bucket, ...connection, replica })

const r2 = z
  .strictObject({
    ...bucket,
    replica,
    accountId: z
      .string()
      .regex(/^[0-9A-Za-z]+$/u, 'the id of a Cloudflare account')
      .optional(),
    endpoint: connection.endpoint,
  })
  .refine(({ accountId, endpoint }) => (accountId === undefined) !== (endpoint === undefined), {
    message: 'have `accountId` or `endpoint`, and not both',
  })

/** A bucket that rclone mounts for commands. */
const rclone = z.strictObject({
  bucket: bucket.bucket,
  prefix: bucket.prefix,
  ...connection,
  credentialsFrom: bucket.credentialsFrom,
  /** The directory of rclone's cache, relative to the config file. */
  directory: path.optional(),
})

/** Kinds of storage, by key. */
const storages = {
  /** A directory, relative to the config file. */
  root: path.optional(),
  s3: s3.optional(),
  r2: r2.optional(),
  rclone: rclone.optional(),
}
const storageKeys = Object.keys(storages) as (keyof typeof storages)[]

const mount = z
  .strictObject({
    at: path,
    ...storages,
    access: z.enum(['read-write', 'read-only']).optional(),
  })
  .superRefine((given, context) => {
    const named = storageKeys.filter((key) => given[key] !== undefined)
    if (named.length === 1) return
    const all = storageKeys.map((key) => `\`${key}\``).join(', ')
    const got = named.length === 0 ? 'got none' : `got ${named.map((key) => `\`${key}\``).join(' and ')}`
    context.addIssue({ code: 'custom', message: `have exactly one of ${all}; ${got}` })
  })

const count = z.int().min(1).optional()
const processLimits = { cpuSeconds: count, memoryBytes: count, fileBytes: count, processes: count, openFiles: count }
const env = z.array(z.string().min(1)).optional()

const viewOptions = {
  tools: z.array(z.strictObject({ host: path, at: path.optional() })).optional(),
  limits: z.strictObject({ ...processLimits, scratchBytes: count }).optional(),
  /** A delegated cgroup v2 group of this machine. */
  cgroup: z.string().startsWith('/').optional(),
  env,
}

/** The schema of `ws.config.json`. It is strict, since a misspelt rule would have no effect. No field takes a secret. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  /** The mounts. The first mount is the workspace's root. */
  mounts: z.array(mount).optional(),
  owner: z.union([z.string(), z.strictObject({ uid: z.int().min(1), gid: z.int().min(0) })]).optional(),
  rules: z.array(rule).optional(),
  executors: z.array(z.enum(executorNames)).min(1).optional(),
  executorOptions: z
    .strictObject({
      bubblewrap: z
        .strictObject({
          root: z.enum(['auto', 'direct', 'translated']).optional(),
          network: z.union([z.enum(['none', 'host']), listedHosts]).optional(),
          loopback: z.enum(['workspace', 'command']).optional(),
          ...viewOptions,
        })
        .optional(),
      container: z.strictObject({ image: z.string().optional(), env }).optional(),
      proot: z.strictObject(viewOptions).optional(),
      'sandbox-runtime': z.strictObject({ tools: viewOptions.tools, env }).optional(),
      sanitize: z
        .strictObject({
          trustPrograms: z.union([z.literal('all'), z.array(z.string().min(1))]).optional(),
          limits: z.strictObject(processLimits).optional(),
          env,
        })
        .optional(),
    })
    .optional(),
  require: z
    .union([z.enum(['untrusted', 'untrusted-by-name']), z.partialRecord(z.enum(guaranteeFields), z.enum(levels))])
    .optional(),
  aliases: z.record(z.string(), z.string()).optional(),
  /** The place of caches in the workspace, and the author of commits. */
  commands: z
    .strictObject({
      cache: path.optional(),
      gitIdentity: z.strictObject({ name: z.string().min(1), email: z.string().min(1) }).optional(),
    })
    .optional(),
  /** Hosts for the tool `download`. */
  downloads: z
    .union([z.literal(false), z.strictObject({ hosts: z.union([z.literal('public'), z.array(z.string())]) })])
    .optional(),
})

export type Config = z.infer<typeof configSchema>
export type RequestsConfig = z.infer<typeof requests>
export type RuleConfig = z.infer<typeof rule>
export type MountConfig = z.infer<typeof mount>
