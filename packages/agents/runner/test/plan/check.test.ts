import { describe, expect, it } from 'vitest'

import { checkPlan } from '../../src/plan/check.ts'
import { createPlanJsonSchema } from '../../src/plan/json-schema.ts'
import { createStepTypes } from '../../src/types/index.ts'
import { testTypes } from '../support.ts'

const types = createStepTypes(testTypes)
const inside = { types, output: { inWorkspace: 'out', name: 'out' } }
const apart = { types, output: { name: 'out' } }

/** A plan of steps, each written as one line of flow YAML below `steps:`, which is line 2. */
const yaml = (...steps: string[]): string => `version: 1\nsteps:\n${steps.map((step) => `  - ${step}\n`).join('')}`

/** A few lines that expand to 10,000 values. */
const growing = ['a', 'b', 'c', 'd']
  .map(
    (name, index) =>
      `${name}: &${name} [${Array(10)
        .fill(index === 0 ? 'x' : `*${'abcd'[index - 1]}`)
        .join(', ')}]\n`,
  )
  .join('')

/** 10,000 steps; the first half of them write. */
const stepsThatRead = (input: (index: number) => string) => ({
  version: 1,
  steps: Array.from({ length: 10_000 }, (_, index) => ({
    id: `s${index}`,
    type: 'nothing',
    ...(index < 5_000 ? { outputs: [`d/${index}`] } : { inputs: [input(index)] }),
  })),
})

describe('[RU8] a plan of many keys', () => {
  const keys = (count: number): string => Array.from({ length: count }, (_, index) => `k${index}: ${index}\n`).join('')
  it.each([
    ['200,000', keys(200_000), /more than 50000 keys/u],
    ['1,000,000 items', `[${'1,'.repeat(1_000_000)}1]`, /more than 50000 keys/u],
    ['20,000, one of them twice', `${keys(20_000)}k7: 1\n`, /`k7` is not unique/u],
    ['10,000 that are wrong', `groups:\n${keys(10_000).replaceAll('k', '  k')}`, /`groups.k0`/u],
    ['20,000 that are not known', Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [i, i])), /"1", "2"/u],
    ['30,000 with tags', keys(30_000).replaceAll(': ', ': !t '), /more than 50000 keys/u],
    ['3,000,000 lines', '\n'.repeat(3_000_000), /more than 100000 lines/u],
    ['10,000 steps that read much of what the others write', stepsThatRead((index) => `out/${index}/b`), undefined],
    ['10,000 steps that read all that the others write', stepsThatRead(() => 'out/d'), /more than 1000000 outputs/u],
  ])('is answered within a second: %s', (_title, plan, reason) => {
    const started = process.threadCpuUsage()
    const { problems } = checkPlan(plan, inside)
    const { user, system } = process.threadCpuUsage(started)
    if (reason === undefined) expect(problems).toEqual([])
    else expect(problems.map((problem) => problem.reason).find((one) => reason.test(one))?.length).toBeLessThan(600)
    expect((user + system) / 1_000).toBeLessThan(1_000)
  })
})

describe('faults of a plan', () => {
  const faults: readonly (readonly [
    title: string,
    plan: string,
    line: number,
    step: string | undefined,
    reason: RegExp,
  ])[] = [
    ['syntax of YAML', 'version: 1\nsteps: [\n', 3, undefined, /not YAML or JSON/u],
    ['syntax of JSON', '{"version": 1,\n"steps": [}', 2, undefined, /not YAML or JSON/u],
    ['a name given twice', 'version: 1\nversion: 1\nsteps: []', 2, undefined, /unique/u],
    ['another version', 'version: 2\nsteps: [{ id: a, type: nothing }]', 1, undefined, /version/u],
    ['a field that is not known', yaml('{ id: a, type: nothing, need: [b] }'), 3, 'a', /need/u],
    ['no steps', 'version: 1\nsteps: []', 2, undefined, /steps/u],
    ['an id that is a path', yaml('{ id: ../other, type: nothing }'), 3, '../other', /A-Za-z0-9/u],
    [
      'an id twice, in another case',
      yaml('{ id: a, type: nothing }', '{ id: A, type: nothing }'),
      4,
      'A',
      /taken by step `a`/u,
    ],
    ['a need that is not a step', yaml('{ id: a, type: nothing, needs: [b] }'), 3, 'a', /`b`, which is not a step/u],
    [
      'a type that is not known',
      yaml('{ id: a, type: nothing }', '{ id: b, type: magic }'),
      4,
      'b',
      /`magic` is not a type/u,
    ],
    ['a type named like a property of objects', yaml('{ id: a, type: constructor }'), 3, 'a', /not a type/u],
    ['settings that are wrong', yaml('{ id: a, type: command, with: { runs: ls } }'), 3, 'a', /run/u],
    ['a group that is not known', yaml('{ id: a, type: nothing, group: g }'), 3, 'a', /groups/u],
    [
      'a cycle',
      yaml('{ id: a, type: nothing, needs: [b] }', '{ id: b, type: nothing, needs: [a] }'),
      3,
      'a',
      /`a` needs `b` needs `a`/u,
    ],
    ['a step that needs itself', yaml('{ id: a, type: nothing, needs: [a] }'), 3, 'a', /`a` needs `a`/u],
    [
      'a cycle by files',
      yaml(
        '{ id: a, type: nothing, inputs: [out/y], outputs: [x] }',
        '{ id: b, type: nothing, inputs: [out/x], outputs: [y] }',
      ),
      3,
      'a',
      /need one another/u,
    ],
    [
      'two writers',
      yaml('{ id: a, type: nothing, outputs: [x] }', '{ id: b, type: nothing, outputs: [x] }'),
      4,
      'b',
      /also written by step `a`/u,
    ],
    [
      'two writers, one inside the other',
      yaml('{ id: a, type: nothing, outputs: [d/x] }', '{ id: b, type: nothing, outputs: [d] }'),
      3,
      'a',
      /also written by step `b`/u,
    ],
    [
      'two writers in two cases',
      yaml('{ id: a, type: nothing, outputs: [Straße] }', '{ id: b, type: nothing, outputs: [STRASSE] }'),
      4,
      'b',
      /also written/u,
    ],
    [
      'two writers in two normal forms',
      yaml('{ id: a, type: nothing, outputs: ["e\\u0301"] }', '{ id: b, type: nothing, outputs: ["\\u00e9"] }'),
      4,
      'b',
      /also written/u,
    ],
    [
      'an exception without a reason',
      yaml('{ id: a, type: nothing, exceptions: [{ path: c, justification: " " }] }'),
      3,
      'a',
      /justification/u,
    ],
    [
      'an exception for everything',
      yaml('{ id: a, type: nothing, exceptions: [{ path: ., justification: all }] }'),
      3,
      'a',
      /root or the output/u,
    ],
    [
      'an exception for the output',
      yaml('{ id: a, type: nothing, exceptions: [{ path: OUT/x, justification: b }] }'),
      3,
      'a',
      /root or the output/u,
    ],
    ['aliases that grow', growing, 1, undefined, /alias/iu],
  ]
  it.each(faults)('%s: the line, the step and the reason', (_title, plan, line, step, reason) => {
    const { problems } = checkPlan(plan, inside)
    expect(problems[0]).toMatchObject({ line, reason: expect.stringMatching(reason) })
    expect(problems[0]?.step).toBe(step)
    expect(problems[0]?.remedy).not.toBe('')
  })

  it('gives all of them at once', () => {
    const { problems } = checkPlan(yaml('{ id: a, type: x }', '{ id: b, type: y, needs: [c] }'), inside)
    expect(problems.map(({ line }) => line)).toEqual([4, 3, 4])
  })

  it('gives those of names, paths and types beside those of form, and none that follow from them', () => {
    const steps = [
      '{ id: a, type: command, with: 1, needs: [c] }',
      '{ id: b, type: nothing, tiemout: 4, inputs: [../x] }',
      '{ id: d, timeout: x, group: g }',
      '{ id: e, type: command, with: { run: 1, nope: 1 } }',
    ]
    const { problems } = checkPlan(yaml(...steps).replace('version: 1', 'concurrency: 0'), inside)
    expect(problems.map(({ step, reason }) => `${step}: ${reason}`)).toEqual([
      expect.stringMatching(/^undefined: `version`/u),
      expect.stringMatching(/^undefined: `concurrency`/u),
      expect.stringMatching(/^a: `steps.0.with`/u),
      expect.stringMatching(/^b: `steps.1`: Unrecognized key: "tiemout"/u),
      expect.stringMatching(/^d: `steps.2.type`/u),
      expect.stringMatching(/^d: `steps.2.timeout`/u),
      expect.stringMatching(/^a: `needs` names `c`/u),
      expect.stringMatching(/^d: `g` is not one of the plan's/u),
      expect.stringMatching(/^b: `\.\.\/x` climbs/u),
      expect.stringMatching(/^e: `steps.3.with.run`/u),
      expect.stringMatching(/^e: `steps.3.with`: Unrecognized key: "nope"/u),
    ])
  })

  it('takes a chain of 10,000 steps', () => {
    const steps = Array.from({ length: 10_000 }, (_, index) => ({
      id: `s${index}`,
      type: 'nothing',
      needs: index === 0 ? [] : [`s${index - 1}`],
    }))
    expect(checkPlan({ version: 1, steps }, inside).plan?.steps).toHaveLength(10_000)
  })
})

describe('paths of a plan', () => {
  const resolved = (
    paths: { inputs?: string[]; outputs?: string[] },
    options = inside as Parameters<typeof checkPlan>[1],
  ) => {
    const steps = [{ id: 'a', type: 'nothing', ...paths }]
    return checkPlan({ version: 1, templates: { prompt_path: 'prompts' }, steps }, options)
  }

  it('[PM7] fills in templates, and leaves unknown ones as they are', () => {
    const inputs = ['{workspace_path}/a', '{prompt_path}/p', '{output_path}/o', '{other}/x', '{app_path}']
    const { plan } = resolved({ inputs, outputs: ['{output_path}/r'] })
    expect(plan?.steps[0]).toMatchObject({
      inputs: ['a', 'prompts/p', 'out/o', '{other}/x', '{app_path}'],
      outputs: ['r'],
    })
  })

  it("[PM8] takes the output's own name off a path to write, once", () => {
    const { plan } = resolved({ outputs: ['out/a', 'out/out/b', 'outer/c', '/output/d'] })
    expect(plan?.steps[0]?.outputs).toEqual(['a', 'out/b', 'outer/c', 'd'])
  })

  it('[PM3, PM4] refuses reads outside the workspace and writes outside the output, with one error', () => {
    for (const path of ['..', '../x', '/etc/passwd', 'a/../../x', '/workspace2/x', '/workspaces']) {
      for (const field of ['inputs', 'outputs']) {
        expect(resolved({ [field]: [path] }).problems?.[0], `${field} ${path}`).toMatchObject({
          code: 'ESECURITY',
          step: 'a',
        })
      }
    }
    expect(resolved({ outputs: ['/workspace/src/x'] }).problems?.[0]).toMatchObject({ code: 'ESECURITY' })
  })

  it('[PM9] refuses to read the output, and to write the workspace, where the two are apart', () => {
    for (const input of ['{output_path}/a', '/output/a']) {
      expect(resolved({ inputs: [input] }, apart).problems?.[0]).toMatchObject({ code: 'ESECURITY' })
      expect(resolved({ inputs: [input] }, inside).plan?.steps[0]?.inputs).toEqual(['out/a'])
    }
    expect(resolved({ outputs: ['{workspace_path}/a'] }, apart).problems?.[0]).toMatchObject({ code: 'ESECURITY' })
  })

  it('makes a step need the writers of its inputs', () => {
    const steps = [
      { id: 'r', type: 'nothing', inputs: ['out/d'] },
      { id: 'w1', type: 'nothing', outputs: ['d/a'] },
      { id: 'w2', type: 'nothing', outputs: ['d/b'] },
      { id: 's', type: 'nothing', inputs: ['out/d/a/deep'] },
    ]
    const { plan } = checkPlan({ version: 1, steps }, inside)
    expect(plan?.steps.map(({ needs }) => needs)).toEqual([['w1', 'w2'], [], [], ['w1']])
  })
})

it('has a JSON schema for editors, with the settings of each type', () => {
  const text = JSON.stringify(createPlanJsonSchema(types))
  expect(text).toContain('"const":"command"')
  expect(text).toContain('shell command')
})
