/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createR2Adapter, createS3Adapter } from '@ws/adapter-s3'
import { createPathManager, isWorkspaceError, type WorkspaceError } from '@ws/core'
import { fileOperations } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { describe, expect, it } from 'vitest'

import { factories } from './factories.ts'
import { methods, workspace } from './methods.ts'
import { rcloneRight } from './wrong.ts'

async function refusalOf(call: () => unknown, what: string): Promise<WorkspaceError> {
  let outcome: unknown
  try {
    outcome = await call()
  } catch (error) {
    if (isWorkspaceError(error)) return error
    throw new Error(`${what}: not a WorkspaceError: ${String(error)}`, { cause: error })
  }
  throw new Error(`${what}: it was taken`, { cause: outcome })
}

const secret = 'S3CR3T'

it('each operation that rules judge and that takes options is tried', () => {
  const names = methods.map(({ name }) => name.split(/[ ,]/u)[0])
  expect(fileOperations.filter((name) => !names.includes(name))).toEqual([])
})

describe.each([...factories, ...methods])('the options of $name', ({ call, right = {}, wrong }) => {
  const given = (options: unknown) => () => call(options as never)

  it('[RU7] a value of a wrong type or out of range is EINVAL that names the option', async () => {
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const what = `${name}: ${typeof value === 'function' ? 'a function' : JSON.stringify(value)}`
        const { code, message, remedy, stack } = await refusalOf(given({ ...right, [name]: value }), what)
        expect({ what, code }, message).toEqual({ what, code: 'EINVAL' })
        expect(message, what).toMatch(
          name === 'command' ? /command|program/ : new RegExp(`\`${name}|alias|/a/b|relative|the \`id\``),
        )
        expect(remedy, what).toBeTruthy()
        expect(stack).toBeTruthy()
      }
    }
  })

  it('[RU7] a name that is not known is EINVAL, with the one that was probably meant', async () => {
    for (const name of Object.keys(wrong)) {
      const near = `${name}${name.at(-1)}`
      const { code, reason, remedy } = await refusalOf(given({ ...right, [near]: 1 }), near)
      expect({ code, reason }).toEqual({ code: 'EINVAL', reason: `\`${near}\` is not an option` })
      expect(remedy).toMatch(/^did you mean `\w+`\?$/)
    }
    const { code, remedy } = await refusalOf(given({ ...right, zzqqxx: secret }), 'zzqqxx')
    expect(code).toBe('EINVAL')
    for (const name of Object.keys(wrong)) expect(remedy).toContain(`\`${name}\``)
  })

  it('[RU7] what is not an object is EINVAL, and so is a required option that is missing', async () => {
    for (const options of [null, 7, 'x', true, []]) {
      const { code, reason } = await refusalOf(given(options), JSON.stringify(options))
      expect({ code, reason }).toEqual({
        code: 'EINVAL',
        reason: expect.stringMatching(/^`(?:options|request)` must be an object, got /),
      })
    }
    for (const name of Object.keys(right)) {
      const { [name]: _missing, ...rest } = right
      const { code, reason } = await refusalOf(given(rest), `without ${name}`)
      expect({ code, reason }).toEqual({
        code: 'EINVAL',
        reason: expect.stringMatching(new RegExp(`^\`${name}\` must be .*, got nothing$`)),
      })
    }
  })
})

it('[RU7] nothing was done by calls with wrong options', async () => {
  const names: string[] = []
  for await (const { path } of workspace.list('/', { recursive: true })) names.push(path)
  expect(names).toEqual(['/f'])
  expect(await workspace.readText('/f')).toBe('x\n')
})

it('[RU7] a secret or a path of this machine is never shown', async () => {
  const values: readonly (() => unknown)[] = [
    () => createS3Adapter({ bucket: 'b', credentials: { accessKeyId: secret } as never }),
    () => createS3Adapter({ bucket: 'b', credentials: secret as never }),
    () => createS3Adapter({ bucket: 'b', endpoint: `ftp://user:${secret}@host` }),
    () => createRcloneAdapter({ bucket: 'b', remote: { type: 's3', secret_access_key: `${secret}\n` } }),
    () => createRcloneAdapter({ bucket: 'b', endpoint: secret, credentials: secret as never }),
    () => createLocalAdapter({ root: `/${secret}\0` }),
    () => createBubblewrapExecutor({ cgroup: secret }),
    () => createBubblewrapExecutor({ tools: [{ host: secret }] }),
    () => createPathManager({ workspace: secret, output: '/o' }),
    () => workspace.exec('true', { env: { TOKEN: `${secret}\0` } }),
    () => workspace.exec('true', { stdin: { secret } as never }),
  ]
  for (const call of values) expect(JSON.stringify(await refusalOf(call, String(call)))).not.toContain(secret)
})

it('[RU7] options that exclude one another are EINVAL', async () => {
  const client = { send: () => undefined } as never
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' }
  const values: readonly [() => unknown, RegExp][] = [
    [() => createS3Adapter({ bucket: 'b', client, region: 'auto' } as never), /`region` and `client` are both given/],
    [() => createR2Adapter({ bucket: 'b' } as never), /`accountId`, `endpoint` and `client` are missing/],
    [
      () => createR2Adapter({ bucket: 'b', accountId: 'a', endpoint: 'https://h', credentials } as never),
      /`accountId` and `endpoint` are both given/,
    ],
    [
      () => createRcloneAdapter({ ...rcloneRight, remote: { type: 'local' } }),
      /`endpoint` and `remote` are both given/,
    ],
  ]
  for (const [call, says] of values) {
    const { code, reason } = await refusalOf(call, String(call))
    expect({ code, reason }).toEqual({ code: 'EINVAL', reason: expect.stringMatching(says) })
  }
})
