import { type AccessEvent, rules } from '@ws/core'
import { check, equal } from '../assert.ts'
import { codeOf } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

export function auditTests({ describe, test }: DoorSuite): void {
  describe('the audit', () => {
    test('tells of both doors: what was done, where it landed, and what the policy said', {
      holds: ['deniedSubtrees'],
    }, async (it) => {
      const site = await it.open({ files: { 'no/x': 'x' }, rules: (at) => [rules.deny(at('no'))] })
      const events: AccessEvent[] = []
      site.workspace.on('access', (event) => events.push(event))
      await site.workspace.readText('file.txt')
      await codeOf(site.workspace.read('no/x'))
      await site.attempt('cat file.txt no/x; echo y > new', { cwd: site.at('') })
      const told = events.map(
        ({ door, operation, path, outcome, code }) => `${door} ${operation} ${path} ${outcome} ${code ?? ''}`,
      )
      const expected = [
        'files read file.txt allowed ',
        'files read no/x denied EACCES',
        `exec exec ${site.at('')} allowed `,
      ]
      for (const line of expected)
        check(told.includes(line), `the audit does not tell \`${line}\`, but ${told.join('; ')}`)
      equal(events.find(({ code }) => code === 'EACCES')?.rule, `deny(${site.at('no')})`, 'the rule that it names')
      if (it.guarantees.apiRules !== 'interpreter') return
      // every access of a command passes the file API, which reports it
      for (const line of [
        `read ${site.at('file.txt')} allowed`,
        `read ${site.at('no/x')} denied`,
        `write ${site.at('new')} allowed`,
      ])
        check(
          told.some((one) => one.startsWith(`files ${line}`)),
          `the audit does not tell \`${line}\` of a command`,
        )
    })

    test('[RU9] tells how a command ended and how much it printed', {}, async (it) => {
      const site = await it.open()
      const events: AccessEvent[] = []
      site.workspace.on('access', (event) => events.push(event))
      const result = await site.attempt('printf 12345; printf 678 >&2; exit 7')
      const event = events.find(({ door }) => door === 'exec')
      equal(event?.outcome, 'allowed', 'the outcome')
      const { exitCode, signal, timedOut, stdoutBytes, stderrBytes } = event ?? {}
      equal(
        { exitCode, signal, timedOut, stdoutBytes, stderrBytes },
        { exitCode: 7, signal: null, timedOut: false, stdoutBytes: 5, stderrBytes: 3 },
        'the end',
      )
      equal(event?.executor, result.executor, 'the executor')
    })
  })
}
