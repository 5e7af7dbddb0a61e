import { checkOptions } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import type { OptionShapes } from '../options/shapes.ts'
import { accesses } from './access.ts'
import type { AskHostsOptions, AskOptions } from './ask.ts'
import type {
  DenyCommandOptions,
  ExceptionOptions,
  NameOption,
  OutputOptions,
  PredicateOptions,
  SubtreeOptions,
} from './rules.ts'

const named = { name: option.text }
const worded = { reason: option.text, remedy: option.text }
const access = option.oneOf(...accesses)

export const ruleOptions = {
  named: named satisfies OptionShapes<NameOption>,
  withinOutput: { ...named, readable: option.boolean } satisfies OptionShapes<OutputOptions>,
  subtree: {
    name: option.required(option.text),
    entries: option.required({
      ...option.map(option.string, access),
      must: 'an object with at least one path and its access, such as `{ "/out": "read-only" }`',
      accepts: (value) => option.object.accepts(value) && Object.keys(value as object).length > 0,
    }),
    ...worded,
  } satisfies OptionShapes<SubtreeOptions>,
  allow: {
    ...named,
    justification: option.required(option.text),
    access,
    from: option.list(option.text, 'a list of rule names'),
  } satisfies OptionShapes<ExceptionOptions>,
  ask: { ...named, ...worded, access: option.oneOf('none', 'read-only') } satisfies OptionShapes<AskOptions>,
  askHosts: { ...named, ...worded } satisfies OptionShapes<AskHostsOptions>,
  predicate: {
    name: option.required(option.text),
    test: option.required(option.function),
    ...worded,
  } satisfies OptionShapes<PredicateOptions>,
  denyCommand: {
    ...named,
    parser: option.required({
      ...option.function,
      must: 'a function, such as `parseCommands` of `@ws/command-parser`',
    }),
    ...worded,
  } satisfies OptionShapes<DenyCommandOptions>,
}

export function readOptions<Options extends object>(
  maker: string,
  shapes: OptionShapes<Options>,
  given: Options | undefined,
): Options {
  checkOptions<Options>(given, shapes, { operation: `rules.${maker}` })
  return given ?? ({} as Options)
}
