/** @module-tag all */
import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import {
  component,
  type ContainerOptions,
  createScratchDirectory,
  describeWith,
  ordinaryOwner,
  runInContainer,
} from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import type { Finding } from './inside.ts'

const repository = fileURLToPath(new URL('../../../..', import.meta.url))
const inside = fileURLToPath(new URL('inside.ts', import.meta.url))
const timeout = 180_000
const needed = ['runc', 'bubblewrap', 'proot', 'landlock'] as const

/** How commands run (`fileContent`, `processes`), or why not and what helps. */
type Expected = readonly [string, string] | { readonly missing: RegExp; readonly howToFix: RegExp }

interface SetUp extends Omit<ContainerOptions, 'user'> {
  readonly name: string
  readonly uid: number
  readonly bubblewrap: Expected
  readonly proot: Expected
  readonly sanitize: Expected
  /** Tried by `npm test` too. */
  readonly always?: true
}

const noNamespaces = { missing: /user namespaces are not permitted/, howToFix: /--security-opt seccomp=unconfined/ }
const noTemporary = { missing: /temporary files cannot be written/, howToFix: /--tmpfs \/tmp:exec.*TMPDIR/ }
const usual = { bubblewrap: noNamespaces, proot: ['kernel', 'translated'], sanitize: ['kernel', 'none'] } as const
const nothing = (missing: RegExp, howToFix: RegExp) => ({
  bubblewrap: { missing, howToFix },
  proot: { missing, howToFix },
  sanitize: { missing, howToFix },
})
const leastCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETGID', 'SETUID']

const setUps: readonly SetUp[] = [
  { name: 'root, default capabilities and filter', uid: 0, always: true, ...usual },
  {
    name: 'root without any capability',
    uid: 0,
    capabilities: [],
    ...nothing(/root without the capabilities.*SETUID/, /--user 1000:1000.*--cap-add SETUID/),
  },
  { name: 'root with the capabilities that the remedy names', uid: 0, capabilities: leastCapabilities, ...usual },
  { name: 'an ordinary user', uid: 1000, ...usual },
  { name: 'root, read-only root file system', uid: 0, readOnly: true, ...usual },
  { name: 'an ordinary user, read-only root file system', uid: 1000, readOnly: true, ...usual },
  {
    name: 'an ordinary user, nothing can be written',
    uid: 1000,
    readOnly: true,
    temporary: 'read-only',
    always: true,
    ...nothing(noTemporary.missing, noTemporary.howToFix),
  },
  {
    name: 'root, a /tmp that cannot be written',
    uid: 0,
    temporary: 'read-only',
    ...nothing(noTemporary.missing, noTemporary.howToFix),
  },
  {
    name: 'an ordinary user, a /tmp without programs',
    uid: 1000,
    temporary: 'noexec',
    ...usual,
    proot: { missing: /mounted `noexec`/, howToFix: noTemporary.howToFix },
  },
  {
    name: 'root of a container that has no other user',
    uid: 0,
    users: 1,
    ...nothing(/does not exist in the user namespace/, /subuid/),
  },
  {
    name: 'an ordinary user, no filter',
    uid: 1000,
    filter: 'unconfined',
    ...usual,
    bubblewrap: ['kernel', 'kernel'],
    proot: ['kernel', 'kernel'],
  },
  { name: 'root, no filter', uid: 0, filter: 'unconfined', ...usual, bubblewrap: ['kernel', 'kernel'] },
]

describeWith(needed.map(component), 'in a container', () => {
  for (const { name, uid, always, bubblewrap, proot, sanitize, ...options } of setUps) {
    it(`[PC13] each executor holds what it says, or says what to do: ${name}`, {
      timeout,
      tags: always ? [] : ['deep'],
    }, async () => {
      await using scratch = await createScratchDirectory({ owner: { uid: 1000, gid: 1000 } })
      const mounts = [
        { path: repository, writable: false },
        { path: dirname(process.execPath), writable: false },
        { path: scratch.path, writable: true },
      ]
      const container = { ...options, user: { uid, gid: uid }, cwd: repository, mounts }
      const node = [process.execPath, '--conditions=@ws/source']
      const tried = await runInContainer([...node, inside, scratch.path, '1000', '1000'], container)
      expect(tried).toMatchObject({ exitCode: 0, stderr: '' })
      const findings = JSON.parse(tried.stdout) as readonly Finding[]
      const expected = { bubblewrap, proot, sanitize }
      expect(findings.map((finding) => finding.name)).toEqual(Object.keys(expected))
      for (const finding of findings) check(finding, expected[finding.name as keyof typeof expected])

      const ws = [...node, `${repository}/apps/cli/src/index.ts`, '--root', scratch.path]
      const works = findings.some(({ available, name: executor }) => available && executor !== 'sanitize')
      const doctor = await runInContainer([...ws, 'doctor'], container)
      expect(doctor).toMatchObject({ exitCode: works ? 0 : 1, stdout: expect.stringMatching(/^bubblewrap +\w/u) })
      const ran = await runInContainer([...ws, 'exec', 'echo works'], container)
      if (works) expect(ran).toEqual({ exitCode: 0, stdout: 'works\n', stderr: '' })
      else
        expect(ran).toMatchObject({ exitCode: 125, stdout: '', stderr: expect.stringMatching(/^ws: ENOEXECUTOR: /u) })
    })
  }
})

describeWith(needed.map(component), 'where no user namespace is allowed', { tags: 'deep' }, () => {
  it('[PC13] an ordinary user gets proot without namespaces, and the reason for bubblewrap', { timeout }, async () => {
    const owner = ordinaryOwner()
    await using scratch = await createScratchDirectory({ owner })
    const user = process.getuid?.() === 0 ? [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'] : []
    const limited =
      'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all "$@"'
    const { stdout } = await promisify(execFile)('setpriv', [
      ...[...user, 'unshare', '--user', '--map-current-user', '--keep-caps', 'sh', '-c', limited, 'sh'],
      ...[process.execPath, '--conditions=@ws/source', inside, scratch.path, `${owner.uid}`, `${owner.gid}`],
    ])
    const [bubblewrap, proot] = JSON.parse(stdout) as readonly Finding[]
    expect(bubblewrap?.missing).toEqual([expect.stringMatching(/as many namespaces as this machine allows, or none/)])
    expect(bubblewrap?.howToFix).toEqual([expect.stringMatching(/user\.max_user_namespaces=/)])
    expect(proot).toMatchObject({ available: true, output: expect.stringContaining('content') })
  })
})

function check(
  { unexpected, available, missing, howToFix, guarantees, output, refusal }: Finding,
  expected: Expected,
): void {
  expect(unexpected).toBeUndefined()
  if ('missing' in expected) {
    expect({ available, missing }).toEqual({ available: false, missing: [expect.stringMatching(expected.missing)] })
    expect(howToFix).toEqual([expect.stringMatching(expected.howToFix)])
    expect([...missing, ...howToFix].join()).not.toMatch(/ws-(?:proot|sanitize|bundle)|undefined/)
    expect(refusal).toBeDefined()
    expect(output).toBeUndefined()
    return
  }
  expect({ available, missing, refusal }).toEqual({ available: true, missing: [], refusal: undefined })
  expect([guarantees.fileContent, guarantees.processes]).toEqual(expected)
  expect(output).toBe('content\n1000\nmade\n')
}
