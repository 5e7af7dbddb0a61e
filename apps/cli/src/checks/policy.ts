import { isWorkspaceError, rules } from '@ws/core'
import type { SubtreeRule } from '@ws/core/executor'

import {
  attack,
  CheckFailure,
  drain,
  expectEqual,
  expectHidden,
  expectRefusal,
  expectSame,
  expectTrue,
  quote,
  refusedWhenRequired,
} from './expect.ts'
import { checksDirectory } from './host/fixtures.ts'
import { skillsPath } from './site.ts'
import type { Check, Shortfall, Site } from './types.ts'

/** Attacks on the policy, at both doors; each leaves what is protected unread and unchanged. */
export const policyChecks: readonly Check[] = [
  {
    id: 'skills-read-only',
    group: 'policy',
    title: 'read-only skills cannot be changed',
    async run(site) {
      const skills = site.path(skillsPath)
      const file = `${skills}/SKILL.md`
      const before = await site.world.stored.skills.state()
      await expectRefusal(site, ['EROFS'], 'write', () => site.workspace.write(file, 'changed'))
      await expectRefusal(site, ['EROFS'], 'delete', () => site.workspace.delete(file))
      await expectRefusal(site, ['EROFS'], 'move', () => site.workspace.move(file, site.path('/taken.md')))
      const { refused } = await attack(
        site,
        'readOnlyMounts',
        site.workspace,
        `cd ${skills}; echo changed > SKILL.md; rm -f SKILL.md; mv SKILL.md x; echo > new; ` +
          `ln SKILL.md ../../../hard && echo changed > ../../../hard; rm -rf ${skills} ${skills}/scripts; true`,
      )
      expectEqual(await site.world.stored.skills.state(), before, 'the skills on disk')
      return refused ? 'refused' : undefined
    },
  },
  {
    id: 'skills-permissions',
    group: 'policy',
    title: 'nor their permissions and times',
    async run(site) {
      const skills = site.path(skillsPath)
      const before = await site.world.stored.skills.details()
      const command = `cd ${skills} && chmod -R 777 . ; touch -d '2001-01-01' SKILL.md scripts scripts/run.py`
      const { refused } = await attack(site, 'readOnlyMounts', site.workspace, command)
      if (refused) return 'refused'
      const after = await site.world.stored.skills.details()
      // Landlock grants and withholds content; permissions and times it does not know
      if (after !== before && site.guarantees.fileMetadata === 'translated') return 'view'
      expectEqual(after, before, 'the skills on disk')
      return undefined
    },
  },
  {
    id: 'listed-not-entered',
    group: 'policy',
    title: 'list and search show a denied entry, not what is below',
    async run(site) {
      const directory = checksPath(site, '')
      const path = checksPath(site, 'private')
      const workspace = await site.under(rules.deny(path))
      const entries = await Array.fromAsync(workspace.list(directory, { recursive: true }))
      const inside = entries.filter((entry) => entry.path.startsWith(path))
      expectEqual(
        inside.map((entry) => entry.path),
        [path],
        'what is listed of it',
      )
      const hits = await Array.fromAsync(workspace.search(site.world.protectedText, { in: directory }))
      expectTrue(hits.length > 0, 'search finds nothing beside it')
      expectTrue(
        hits.every((hit) => !hit.path.startsWith(path)),
        'search enters it',
      )
    },
  },
  {
    id: 'denied',
    group: 'policy',
    title: 'a denied subtree is neither read nor changed',
    async run(site) {
      const path = checksPath(site, 'private')
      const workspace = await site.under(rules.deny(path))
      const denied = (what: string, operation: () => Promise<unknown>) =>
        expectRefusal(site, ['EACCES'], what, operation)
      await denied('read', () => workspace.read(`${path}/key`))
      await denied('stat', () => workspace.stat(`${path}/key`))
      await denied('list', () => drain(workspace.list(path)))
      await denied('write', () => workspace.write(`${path}/new`, ''))
      await denied('copy', () => workspace.copy(`${path}/key`, checksPath(site, 'out/key')))
      await denied('move over it', () => workspace.move(checksPath(site, 'data.json'), path, { overwrite: true }))
      const p = quote(path)
      return await strike(site, {
        field: 'deniedSubtrees',
        rule: rules.deny(path),
        commands: [
          `cat ${p}/key; ls -la ${p} ${p}/deep; grep -r protected ${p}; cp -r ${p} ${quote(checksPath(site, 'out'))}/`,
          `echo changed > ${p}/key; rm -rf ${p}; mv ${p} ${p}2; chmod -R 777 ${p}; cat ${p}/key ${p}2/key`,
        ],
      })
    },
  },
  {
    id: 'denied-rename',
    group: 'policy',
    title: 'its ancestors cannot be renamed away and rebuilt',
    async run(site) {
      const path = checksPath(site, 'guarded/deep/secret')
      const rule = rules.deny(path)
      const workspace = await site.under(rule)
      const guarded = checksPath(site, 'guarded')
      await expectRefusal(site, ['EACCES'], 'move', () => workspace.move(guarded, `${guarded}2`))
      await expectRefusal(site, ['EACCES'], 'delete', () => workspace.delete(guarded, { recursive: true }))
      const g = quote(guarded)
      return await strike(site, {
        field: 'deniedSubtrees',
        rule,
        evasive: true,
        commands: [
          `mv ${g} ${g}2; cat ${g}2/deep/secret/key; mv ${g}/deep ${g}/deep2; cat ${g}/deep2/secret/key; ` +
            `mkdir -p ${g}/deep/secret; echo rebuilt > ${g}/deep/secret/key`,
        ],
      })
    },
  },
  {
    id: 'denied-links',
    group: 'policy',
    links: true,
    title: 'no link, hard link or second name leads into it',
    async run(site) {
      const path = checksPath(site, 'private')
      const rule = rules.deny(path)
      const workspace = await site.under(rule)
      const link = checksPath(site, 'sub/to-private')
      await workspace.createSymlink(link, path)
      await expectRefusal(site, ['EACCES'], 'read through a link', () => workspace.read(`${link}/key`))
      await expectRefusal(site, ['EACCES'], 'write through a link', () => workspace.write(`${link}/key`, 'changed'))
      const names = [link, ...(site.at === '/' ? [`/workspace${path}`] : [])]
      for (const name of names) {
        await expectRefusal(site, ['EACCES'], `read of ${name}`, () => workspace.read(`${name}/key`))
      }
      const commands = names.map((name) => `cat ${quote(name)}/key; echo changed > ${quote(name)}/key`)
      return await strike(site, {
        field: 'deniedSubtrees',
        rule,
        commands: [
          ...commands,
          `cd ${quote(checksPath(site, 'sub'))} && ln ../private/key hard; cat hard; echo changed > hard; cat ../private/../private/key`,
        ],
      })
    },
  },
  {
    id: 'read-only-subtree',
    group: 'policy',
    title: 'a read-only subtree can be read and not changed',
    async run(site) {
      const path = checksPath(site, 'locked')
      const rule = rules.readOnly(path)
      const workspace = await site.under(rule)
      expectTrue((await workspace.readText(`${path}/hook.sh`)).startsWith('#!'), 'it cannot be read')
      await expectRefusal(site, ['EACCES'], 'write', () => workspace.write(`${path}/hook.sh`, 'changed'))
      await expectRefusal(site, ['EACCES'], 'delete', () => workspace.delete(path, { recursive: true }))
      const p = quote(path)
      return await strike(site, {
        field: 'subtrees',
        rule,
        commands: [
          `cat ${p}/hook.sh > /dev/null || echo UNREADABLE; echo changed > ${p}/hook.sh; touch ${p}/new; mv ${p} ${p}2; rm -rf ${p}; ln ${p}/hook.sh ${quote(checksPath(site, 'hard'))} && echo changed > ${quote(checksPath(site, 'hard'))}`,
        ],
        readable: true,
      })
    },
  },
  {
    id: 'output-root',
    group: 'policy',
    title: 'nothing is written outside the output root',
    async run(site) {
      const out = checksPath(site, 'out')
      const rule = rules.withinOutput(out)
      const workspace = await site.under(rule)
      await workspace.write(`${out}/by-api.txt`, 'api')
      await expectRefusal(site, ['EACCES'], 'write', () => workspace.write(checksPath(site, 'outside-output.txt'), ''))
      await expectRefusal(site, ['EACCES'], 'move', () =>
        workspace.move(`${out}/by-api.txt`, checksPath(site, 'moved.txt')),
      )
      const escape = quote(checksPath(site, 'escaped.txt'))
      const { refused } = await attack(
        site,
        'subtrees',
        workspace,
        `cat ${quote(out)}/by-api.txt > ${quote(out)}/by-shell.txt; echo x > ${escape}; mv ${quote(out)}/by-api.txt ${escape}; cd ${quote(out)} && ln -s .. up && echo x > up/escaped.txt; rm -f up`,
      )
      const names = await site.world.stored.project.names(`/${checksDirectory}`)
      expectTrue(!names.includes('escaped.txt'), 'a command wrote outside')
      if (!refused) expectEqual(await workspace.readText(`${out}/by-shell.txt`), 'api', 'what a command wrote inside')
      return refused ? 'refused' : undefined
    },
  },
  {
    id: 'recursive',
    group: 'policy',
    title: 'recursive delete, move and copy stop at a denied part',
    async run(site) {
      const mixed = checksPath(site, 'mixed')
      const rule = rules.deny(`${mixed}/kept`)
      const workspace = await site.under(rule)
      const before = await site.world.stored.project.state(`/${checksDirectory}/mixed`)
      await expectRefusal(site, ['EACCES'], 'delete', () => workspace.delete(mixed, { recursive: true }))
      await expectRefusal(site, ['EACCES'], 'move', () => workspace.move(mixed, `${mixed}2`))
      await expectRefusal(site, ['EACCES'], 'copy', () => workspace.copy(mixed, `${mixed}2`))
      expectEqual(
        await site.world.stored.project.state(`/${checksDirectory}/mixed`),
        before,
        'the directory after refusals',
      )
      const m = quote(mixed)
      return await strike(site, {
        field: 'deniedSubtrees',
        rule,
        evasive: true,
        commands: [`cp -r ${m} ${m}2; cat ${m}2/kept/key; mv ${m} ${m}3; cat ${m}3/kept/key; rm -rf ${m}`],
      })
    },
  },
  {
    id: 'not-there-yet',
    group: 'policy',
    title: 'a protected path that is missing is not made',
    async run(site) {
      const path = checksPath(site, 'not-there-yet/.key')
      const workspace = await site.under(rules.deny(path))
      await expectRefusal(site, ['EACCES'], 'write', () => workspace.write(path, ''))
      const refused = await isUnenforceable(() => workspace.exec(`mkdir ${quote(path)}; echo x > ${quote(path)}`))
      expectTrue(
        !(await site.world.stored.project.names(`/${checksDirectory}`)).includes('not-there-yet'),
        'it was made',
      )
      return refused ? 'refused' : undefined
    },
  },
  {
    id: 'work-goes-on',
    group: 'policy',
    links: true,
    title: 'work beside a denied subtree goes on',
    async run(site) {
      const workspace = await site.under(rules.deny(checksPath(site, 'private')))
      const directory = checksPath(site, 'beside')
      const { refused, output } = await attack(
        site,
        'deniedSubtrees',
        workspace,
        `mkdir -p ${quote(directory)}/a && cd ${quote(directory)} && echo one > a/x && mv a b && mv b/x y && cp y z && ln -s y l && rm z && cat l`,
      )
      if (refused) return 'refused'
      expectEqual(output, 'one\n', 'mkdir, mv, cp, ln, rm')
      expectSame(
        (await Array.fromAsync(workspace.list(directory))).map(({ name }) => name),
        ['b', 'l', 'y'],
        'list',
      )
      return undefined
    },
  },
]

const checksPath = (site: Site, path: string): string =>
  site.path(`/${checksDirectory}${path === '' ? '' : `/${path}`}`)

interface Strike {
  readonly field: 'deniedSubtrees' | 'subtrees'
  readonly rule: SubtreeRule
  readonly commands: readonly string[]
  /** The part may be read, and must be. */
  readonly readable?: boolean
  /** Gets around a translation: where no more is declared, it may get through, and a requirement of more is refused. */
  readonly evasive?: boolean
}

/** Runs attacks on a protected part under one rule; its content stays unread and unchanged. */
async function strike(
  site: Site,
  { field, rule, commands, readable = false, evasive = false }: Strike,
): Promise<Shortfall | undefined> {
  const path = (rule.entries.at(-1)?.path ?? '/').slice(site.at === '/' ? 0 : site.at.length)
  const { project } = site.world.stored
  const before = await project.state(path)
  const workspace = await site.under(rule)
  const { enforcedBy } = await workspace.explain({ operation: 'read', path: rule.entries.at(-1)?.path ?? '/' })
  try {
    for (const command of commands) {
      const { refused, output } = await attack(site, field, workspace, command)
      if (refused) return 'refused'
      if (!readable) expectHidden(output, site.world.protectedText, 'the output')
      expectTrue(!output.includes('UNREADABLE'), 'it cannot be read by commands')
      expectEqual(await project.state(path).catch(() => 'gone'), before, 'the protected part on disk')
    }
    return undefined
  } catch (error) {
    if (!(error instanceof CheckFailure) || !evasive || site.guarantees[field] !== 'translated') throw error
    expectEqual(enforcedBy.exec, 'translated', 'what explain says of it')
    await refusedWhenRequired(site, field)
    return 'view'
  }
}

/** A missing name cannot be held on every storage: the mount of a bucket refuses the command. */
async function isUnenforceable(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return false
  } catch (error) {
    if (isWorkspaceError(error, 'EUNENFORCEABLE')) return true
    throw error
  }
}
