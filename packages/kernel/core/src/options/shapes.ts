/** The valid values of one option. `must` completes the sentence "must be …". */
export interface OptionShape {
  readonly must: string
  /** True for a valid value. Not called for `undefined`, unless the option is required. */
  accepts(value: unknown): boolean
  readonly required?: true
  /** Keeps the value out of messages: it may be a secret or a host path. */
  readonly hidden?: true
  /** Shapes of nested options, checked as `outer.inner`. Other names are refused. */
  readonly options?: OptionShapes
  /** The shape of each element of a list, checked as `outer[0]`. */
  readonly element?: OptionShape
  /** For options with free names: the shapes of names and values, checked as `outer.name`. */
  readonly entries?: { readonly names: OptionShape; readonly values: OptionShape }
}

export type OptionShapes<Options = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof Options]-?: OptionShape
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

export function hasMethods(value: unknown, ...methods: readonly string[]): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return methods.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function')
}

export const option = {
  boolean: { must: '`true` or `false`', accepts: (value) => typeof value === 'boolean' },
  string: { must: 'a string', accepts: (value) => typeof value === 'string' },
  text: {
    must: 'a string that is not blank',
    accepts: (value) => typeof value === 'string' && value.trim() !== '',
  },
  function: { must: 'a function', accepts: (value) => typeof value === 'function' },
  object: { must: 'an object', accepts: isObject },
  signal: {
    must: 'an `AbortSignal`',
    accepts: (value) =>
      typeof value === 'object' &&
      value !== null &&
      typeof (value as AbortSignal).aborted === 'boolean' &&
      typeof (value as AbortSignal).addEventListener === 'function',
  },
  adapter: {
    must: 'a storage adapter',
    accepts: (value) => typeof value === 'object' && hasMethods(value, 'stat', 'list', 'close'),
    required: true,
  },
  /** Milliseconds for a timer, from 1. */
  duration: integer(1, 2 ** 31 - 1),
  strings: listOf({ must: 'a string', accepts: (value) => typeof value === 'string' }, 'a list of strings'),

  integer,

  oneOf(...values: readonly string[]): OptionShape {
    const quoted = values.map((value) => `\`${value}\``)
    const last = quoted.at(-1) ?? ''
    return {
      must: quoted.length < 2 ? last : `${quoted.slice(0, -1).join(', ')} or ${last}`,
      accepts: (value) => values.some((known) => known === value),
    }
  },

  map(names: OptionShape, values: OptionShape): OptionShape {
    return { must: 'an object', accepts: isObject, entries: { names, values } }
  },

  list(element: OptionShape, must = 'a list'): OptionShape {
    return listOf(element, must)
  },

  options<Options extends object>(options: OptionShapes<Options>, must = 'an object'): OptionShape {
    return { must, accepts: isObject, options: options as unknown as OptionShapes }
  },

  of(must: string, accepts: (value: unknown) => boolean): OptionShape {
    return { must, accepts }
  },

  required(shape: OptionShape): OptionShape {
    return { ...shape, required: true }
  },

  hidden(shape: OptionShape): OptionShape {
    return { ...shape, hidden: true }
  },
} as const satisfies Record<string, OptionShape | ((...arguments_: never[]) => OptionShape)>

function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): OptionShape {
  return {
    must: most === Number.MAX_SAFE_INTEGER ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`,
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
  }
}

function listOf(element: OptionShape, must: string): OptionShape {
  return { must, accepts: Array.isArray, element }
}
