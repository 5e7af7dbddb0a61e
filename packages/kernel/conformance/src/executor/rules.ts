import { rules } from '@ws/core'
import type { Guarantees } from '@ws/core/executor'
import { check, equal, rejects } from '../assert.ts'
import { codeOf, skillsPath, type Site, type SiteOptions } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

interface Ruled {
  readonly field: keyof Guarantees
  readonly options: SiteOptions
  readonly rule: (site: Site) => string
  /** `path`: the protected file in the workspace. `code`: the file API's error for a change of that file. */
  readonly path: string
  readonly code: string
  readonly attacks: (path: string) => readonly string[]
}

const changes = (path: string): readonly string[] => [
  `echo evil > ${path}`,
  `echo evil >> ${path}`,
  `rm -f ${path}`,
  `mv ${path} moved`,
  `cp file.txt ${path}`,
  `mv file.txt ${path}`,
]
const hardLink = (path: string): string => `ln ${path} hard && echo evil > hard`

const ruled: readonly Ruled[] = [
  {
    field: 'readOnlyMounts',
    options: { skills: true },
    rule: (site) => `mount:${site.at(skillsPath)}`,
    path: `${skillsPath}/search.md`,
    code: 'EROFS',
    attacks: (path) => [
      ...changes(path),
      `echo x > ${path}-new`,
      `rm -rf ${path.slice(0, path.lastIndexOf('/'))}`,
      hardLink(path),
    ],
  },
  {
    field: 'subtrees',
    options: { files: { 'keep/x': 'how to search\n' }, rules: (at) => [rules.readOnly(at('keep'))] },
    rule: (site) => `readOnly(${site.at('keep')})`,
    path: 'keep/x',
    code: 'EACCES',
    attacks: (path) => [
      ...changes(path),
      hardLink(path),
      'rm -rf keep',
      'mv keep kept',
      'mkdir keep/new',
      'touch keep/new',
    ],
  },
  {
    field: 'apiRules',
    options: {
      files: { 'a.exe': 'how to search\n' },
      rules: () => [
        rules.predicate({ name: 'no-exe', test: ({ path, need }) => need === 'read' || !path.endsWith('.exe') }),
      ],
    },
    rule: () => 'no-exe',
    path: 'a.exe',
    code: 'EACCES',
    attacks: changes,
  },
  {
    field: 'deniedSubtrees',
    options: { files: { 'private/key': 'how to search\n' }, rules: (at) => [rules.deny(at('private'))] },
    rule: (site) => `deny(${site.at('private')})`,
    path: 'private/key',
    code: 'EACCES',
    attacks: (path) => [
      `cat ${path}`,
      'ls private',
      'ls -la private',
      'grep -r how private',
      'cp -r private copied',
      'rm -rf private',
      'mv private other',
      'chmod -R 777 private',
      `chmod 777 private; cat ${path}`,
      `ln ${path} hard; cat hard`,
      `cat private/../${path.slice(path.indexOf('private'))}`,
      'cd private && cat key',
      `cp ${path} copy; cat copy`,
      `echo evil > ${path}`,
    ],
  },
]

/** Tests guarantees that rules need. A declared guarantee must hold. Without the guarantee, the core must refuse the rule for commands. */
export function ruleTests({ describe, test }: DoorSuite): void {
  describe('guarantees', () => {
    for (const { field, options, rule, path, code, attacks } of ruled) {
      test(`${field}: a protected part is neither changed nor given away`, { holds: [field] }, async (it) => {
        const site = await it.open(options)
        const readable = field !== 'deniedSubtrees'
        const before = readable ? await site.workspace.readText(path) : undefined
        for (const attack of attacks(site.at(path))) {
          const { exitCode, stdout } = await site.attempt(attack)
          check(exitCode !== 0, `${attack} succeeded`)
          if (!readable) check(!stdout.includes('search') && !stdout.includes('key'), `${attack} gave something away`)
        }
        if (before !== undefined) {
          equal(await site.workspace.readText(path), before, `what ${path} holds`)
          equal(await site.run(`cat ${site.at(path)}`), before, `what a command reads from ${path}`)
        } else {
          equal(await site.stored(path), 'how to search\n', `what ${path} holds`)
        }
        equal(await site.stored('file.txt'), 'a file\n', 'what lies beside it')
        equal(await codeOf(site.workspace.write(path, 'evil')), code, 'a change at the file door')
      })

      test(`${field}: where it is not held, the rule refuses commands until it is acknowledged`, {
        lacks: [field],
      }, async (it) => {
        const site = await it.open(options)
        const name = rule(site)
        const error = await rejects(site.attempt('echo x > ran'), 'EUNENFORCEABLE', {
          what: 'a command under the rule',
        })
        equal(error.rule, name, 'the rule that the refusal names')
        check(
          field === 'apiRules' || error.message.includes(it.fixture.executor.name),
          `the refusal does not name the executor: ${error.message}`,
        )
        equal(await site.stored('ran'), undefined, 'what the command writes')
        const { unenforceable } = await site.workspace.explain({ operation: 'exec', path: '.' })
        equal(
          unenforceable?.map((one) => one.rule),
          [name],
          'what explain says of it',
        )
        equal(await site.run('echo ran', { acknowledge: [name] }), 'ran\n', 'the output with `acknowledge`')
        equal(await codeOf(site.workspace.write(path, 'evil')), code, 'a change at the file door')
      })
    }
  })
}
