import { longestTurn } from '@ws/test-fixtures'
import { languageOf, openDocuments } from '@ws/documents'
import { afterAll, describe, expect, it } from 'vitest'

const documents = openDocuments()
afterAll(() => documents.close())

const python = `import os

@decorated
class Shape(Base, metaclass=Meta):
    """class Hidden: pass"""
    size: int = 1

    @property
    async def area(self, scale: int = 2,
                   *rest) -> float:  # def no(): pass
        def inner(): pass
        return 1.0

    class Inner:
        def deep(self): ...

if os.name == 'nt':
    def windows(): pass
else:
    def others(): pass
`

const typeScript = `import x from 'y'
@Injectable()
export default class Shape<T> extends Base implements Area {
  private size = 1
  constructor(readonly a: string) { super() }
  @log()
  static async area(scale: number = 2): Promise<void> { function inner() {} }
  get name(): string { return '' }
  handler = (event: Event): void => {}
}
export interface Area extends Other { area(scale: number): void; p: string }
export type Size = 'a' |
  'b'
export const enum Kind { A }
export const load = async (path: string): Promise<string> => { return '' }, other = function (a: number) {}
const text = \`function hidden() {}\`
declare module 'x' { export function q(): void }
namespace N { export function inner() {} }
export abstract class Q { abstract foo(x: number): void }
function over(a: string): void
function* numbers(): Iterable<number> {}
`

const lines = ({ signatures }: { signatures: readonly { line: number; text: string; depth: number }[] }) =>
  signatures.map(({ line, text, depth }) => `${line}:${'  '.repeat(depth)}${text}`)

describe('signatures', () => {
  it('[FS12] are those of classes, methods and functions of Python', async () => {
    const read = await documents.signatures(python, { language: 'python' })
    expect(lines(read)).toEqual([
      '4:class Shape(Base, metaclass=Meta)',
      '9:  async def area(self, scale: int = 2, *rest) -> float',
      '14:  class Inner',
      '15:    def deep(self)',
      '18:def windows()',
      '20:def others()',
    ])
    expect(read).toMatchObject({ parsed: true, truncated: false, method: 'parser' })
  })

  it('[FS12] are those of classes, interfaces, types, enums and functions of TypeScript', async () => {
    const read = await documents.signatures(typeScript, { language: 'typescript' })
    expect(lines(read)).toEqual([
      '3:export default class Shape<T> extends Base implements Area',
      '5:  constructor(readonly a: string)',
      '7:  static async area(scale: number = 2): Promise<void>',
      '8:  get name(): string',
      '9:  handler = (event: Event): void',
      '11:export interface Area extends Other',
      '11:  area(scale: number): void',
      "12:export type Size = 'a' | 'b'",
      '14:export const enum Kind',
      '15:export const load = async (path: string): Promise<string>',
      '15:other = function (a: number)',
      "17:declare module 'x'",
      '17:  export function q(): void',
      '18:namespace N',
      '18:  export function inner()',
      '19:export abstract class Q',
      '19:  abstract foo(x: number): void',
      '20:function over(a: string): void',
      '21:function* numbers(): Iterable<number>',
    ])
    expect(read).toMatchObject({ parsed: true, method: 'parser' })
  })

  it('[FS12] are read of TSX and JavaScript too', async () => {
    const tsx = await documents.signatures('export default function App({ a }: Props) { return <p>{a}</p> }', {
      language: 'tsx',
    })
    expect(lines(tsx)).toEqual(['1:export default function App({ a }: Props)'])
    const javaScript = await documents.signatures(
      'export class A { run = () => {}; #b() {} }\nexport default () => 1',
      {
        language: 'javascript',
      },
    )
    expect(lines(javaScript)).toEqual(['1:export class A', '1:  run = ()', '1:  #b()', '2:export default ()'])
    expect([tsx.parsed, javaScript.parsed]).toEqual([true, true])
  })

  it.each([
    ['python', 'def good(): pass\ndef bad(:\n    pass\n'],
    ['typescript', 'export function good(): void {}\nexport function bad( {\n'],
  ] as const)('[FS12] say of %s with a syntax error that it is not parsed, and go on', async (language, source) => {
    const read = await documents.signatures(source, { language })
    expect(read).toMatchObject({ parsed: false, method: 'parser' })
    expect(read.signatures[0]).toMatchObject({ line: 1, depth: 0 })
  })

  it('[FS12] of 300 KB on one line are read in bounded time, without holding the event loop', async () => {
    const source = `export function first() {};${'a(1);'.repeat(60_000)}`
    const { result, longest } = await longestTurn(() => documents.signatures(source, { language: 'javascript' }))
    expect(lines(result)).toEqual(['1:export function first()'])
    expect(result).toMatchObject({ parsed: false, method: 'patterns', truncated: false })
    expect(longest).toBeLessThan(20)
  })

  it('[FS12] of a long source are found by patterns', async () => {
    const filler = `# ${'x'.repeat(100)}\n`.repeat(3000)
    expect(lines(await documents.signatures(filler + python, { language: 'python' }))).toEqual([
      '3004:class Shape(Base, metaclass=Meta)',
      '3009:  async def area(self, scale: int = 2,',
      '3014:  class Inner',
      '3015:    def deep(self): ...',
      '3018:def windows(): pass',
      '3020:def others(): pass',
    ])
    const read = await documents.signatures(filler.replaceAll('#', '//') + typeScript, { language: 'typescript' })
    expect(lines(read)).toEqual([
      '3003:export default class Shape<T> extends Base implements Area',
      '3011:export interface Area extends Other',
      "3012:export type Size = 'a' |",
      '3014:export const enum Kind',
      '3015:export const load = async (path: string): Promise<string>',
      '3018:namespace N',
      '3019:export abstract class Q',
      '3020:function over(a: string): void',
      '3021:function* numbers(): Iterable<number>',
    ])
  })

  it('[FS12] of a source that is too much for the parser are found by patterns in time', async () => {
    // Each of these makes the parser keep another way open.
    const source = `def first(): pass\n${'`${'.repeat(80_000)}`
    const read = await documents.signatures(source, { language: 'python', timeout: 1000 })
    expect(read).toMatchObject({ method: 'patterns', parsed: false })
    expect(lines(read)).toEqual(['1:def first(): pass'])
  })

  it.each(['const a = (', 'export const a: ', 'export const a = b', 'type ', '\t', 'async '])(
    '[FS12] by patterns take linear time on %j repeated',
    async (part) => {
      const source = part.repeat(2_000_000 / part.length)
      for (const language of ['python', 'typescript'] as const) {
        expect(await documents.signatures(source, { language, timeout: 5000 })).toMatchObject({ method: 'patterns' })
      }
    },
  )

  it('[FS12] are bounded in number, length and source', async () => {
    const many = await documents.signatures('def f(): pass\n'.repeat(1001), { language: 'python' })
    expect(many.signatures).toHaveLength(1000)
    expect(many.truncated).toBe(true)
    const long = await documents.signatures(`def f(${'argument, '.repeat(1000)}): pass`, { language: 'python' })
    expect(long.signatures[0]?.text).toHaveLength(300)
    expect(long.signatures[0]?.text.endsWith('…')).toBe(true)
    const huge = await documents.signatures(`def f(): pass\n${' '.repeat(3_000_000)}`, { language: 'python' })
    expect(huge).toMatchObject({ truncated: true, method: 'patterns' })
  })

  it('refuse an unknown language', async () => {
    await expect(documents.signatures('', { language: 'cobol' as 'python' })).rejects.toThrow(
      'EINVAL: signatures: `language` must be `python`, `typescript`, `tsx` or `javascript`, got `"cobol"`',
    )
  })
})

describe('languageOf', () => {
  it.each([
    ['/a/b.py', 'python'],
    ['b.pyi', 'python'],
    ['b.ts', 'typescript'],
    ['b.d.mts', 'typescript'],
    ['b.TSX', 'tsx'],
    ['b.cjs', 'javascript'],
    ['b.jsx', 'javascript'],
    ['b.rs', undefined],
    ['ts', undefined],
    ['b.constructor', undefined],
  ])('[FS12] of %s is %s', (path, language) => {
    expect(languageOf(path)).toBe(language)
  })
})
