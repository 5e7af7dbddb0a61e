import { paths } from '@ws/core'
import { guaranteeFields, type Guarantees, type ProbeReport, satisfies } from '@ws/core/executor'
import { check, equal, rejects } from '../assert.ts'
import type { DoorSuite } from '../doors/suite.ts'

const levels: readonly unknown[] = ['kernel', 'interpreter', 'translated', 'names', 'none']

function checkReport({ guarantees, missing, howToFix, details }: ProbeReport): void {
  for (const field of guaranteeFields)
    check(levels.includes(guarantees[field]), `${field} is ${String(guarantees[field])}`)
  const isText = (list: readonly unknown[]): boolean => list.every((one) => typeof one === 'string' && one !== '')
  check(Array.isArray(missing) && isText(missing), '`missing` must be a list of words')
  check(Array.isArray(howToFix) && isText(howToFix), '`howToFix` must be a list of words')
  check(typeof details === 'object' && details !== null, '`details` must be an object')
}

export function probeTests({ describe, test }: DoorSuite): void {
  describe('probe', () => {
    test('[PC13] an available executor runs commands', {}, async (it) => {
      checkReport(await it.fixture.executor.probe({ root: paths.parseVirtual(it.root) }))
      const site = await it.open()
      equal(await site.run('echo ran'), 'ran\n', 'the output of a command')
    })

    test('the guarantees of the probe are those of the workspace', {}, async (it) => {
      const site = await it.open()
      const { executor } = site.workspace
      equal(executor?.name, it.fixture.executor.name, 'the executor')
      equal(executor?.guarantees, it.guarantees, 'the guarantees')
    })

    test('an unavailable executor says what is missing and how to mend it, and claims nothing', {}, async (it) => {
      const executor = it.fixture.unavailable ?? it.skip('the fixture has no `unavailable`')
      const report = await executor.probe({ root: paths.parseVirtual(it.root) })
      checkReport(report)
      equal(report.available, false, 'available')
      check(report.missing.length > 0, 'it does not say what is missing')
      check(report.howToFix.length > 0, 'it does not say how to mend it')
      for (const field of guaranteeFields) equal(report.guarantees[field], 'none', `the guarantee ${field}`)
    })

    test('a requirement above what is declared is refused, and names the field', {}, async (it) => {
      const short = guaranteeFields.filter((field) => !satisfies(it.guarantees[field], 'kernel'))
      if (short.length === 0) it.skip('every guarantee is at least `kernel`')
      for (const field of short) {
        const require = { [field]: 'kernel' } as Partial<Guarantees>
        const error = await rejects(it.open({ require }), 'ENOEXECUTOR', { what: `require ${field}` })
        check(error.message.includes(field), `the refusal does not name ${field}: ${error.message}`)
      }
    })

    test('a requirement that is declared is met', {}, async (it) => {
      const site = await it.open({ require: it.guarantees })
      equal(await site.run('echo ran'), 'ran\n', 'the output')
    })
  })
}
