import fc from 'fast-check'
import { propertyRounds } from '@ws/test-fixtures'

import { parseVirtualPath, type VirtualPath } from '../../src/path/virtual-path.ts'

/** Runs a property with a fixed seed: few cases in `npm test`, many in `npm run test:deep`. */
export function check<Values>(property: fc.IProperty<Values>): void {
  fc.assert(property, { seed: 20_261_121, ...propertyRounds({ quick: 300, seconds: 3 }) })
}

const oddNames = [
  'a|b',
  'c:d',
  'new\nline',
  '-rf',
  '--',
  "it's",
  '"quoted"',
  'two words',
  ' ',
  '\t',
  '日本語',
  'e\u0301', // decomposed: another name than the composed one
  '\u00e9',
  '🙂',
  '.hidden',
  '..double',
  '...',
  '.venv',
  'a.',
  '\\',
  '*?[x]{y}',
  '$(id)',
  '`id`',
  '%2e%2e',
  '~',
  'C:',
  '__proto__',
  '\u001b[2J',
  '\u202e',
  '\u007f',
]

/** Anything that can be the name of an entry, odd ones above all. */
export const name: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...oddNames) },
  { weight: 2, arbitrary: fc.constantFrom('a', 'b', 't1', 't12', 't1.', 'workspace', 'workspaces') },
  {
    weight: 2,
    arbitrary: fc
      .string({ unit: 'binary', minLength: 1, maxLength: 20 })
      .filter((text) => !/[/\0]/u.test(text) && text !== '.' && text !== '..'),
  },
)

export const segments: fc.Arbitrary<string[]> = fc.array(name, { maxLength: 6 })

/** A path as it must come out. */
export const normal: fc.Arbitrary<VirtualPath> = segments.map((list) => parseVirtualPath(`/${list.join('/')}`))

/** Paths that a person may type: names, dots, `..`, doubled and trailing slashes, absolute or not. */
export const typed: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 3, arbitrary: name }, { weight: 2, arbitrary: fc.constantFrom('', '.', '..') }), {
    maxLength: 10,
  })
  .map((pieces) => pieces.join('/'))

/** Anything at all: what no type system keeps out. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  typed,
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('/', '.', '\0', '\ud800', 'a', '\\'), maxLength: 12 }),
  fc.integer({ min: 200, max: 5000 }).map((length) => `/${'é/x'.repeat(length)}`),
  fc.integer({ min: 200, max: 400 }).map((length) => `${'n'.repeat(length % 2)}${'🙂'.repeat(length)}`),
  fc.anything(),
)
