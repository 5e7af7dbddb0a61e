import type { Tool } from '../contract.ts'
import { readOperands } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import type { Jq } from 'jq-wasm'

import { decodeText, hasForeignBytes } from '../text.ts'
import { parseArguments } from '../options.ts'
import type { CommandRule } from '../rule.ts'

const fromFile = ['-f', '--from-file']
export const jqOptions: CommandRule = {
  flags: 'rcSensjRaf',
  long: [
    'raw-output',
    'compact-output',
    'sort-keys',
    'exit-status',
    'null-input',
    'slurp',
    'join-output',
    'raw-input',
    'ascii-output',
    'from-file',
    'stream',
    'tab',
    'arg==',
    'argjson==',
  ],
  refuse: ({ operands: [filter] }) => (filter === undefined ? 'give a filter, such as `.`' : undefined),
}

/** Parts of the jq language that access the machine, or other files. */
const outside =
  /\b(?:input_filename|input_line_number|get_search_list)\b|\$__prog_args|(?:^|;)\s*(?:import|include|module)\b/

/** Bytes beyond which jq is reloaded for the next call: the memory of an instance never shrinks. */
const mostKept = 64 * 1024 * 1024
/** WebAssembly's memory, which Node's types lack. */
interface Memory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}
const { Memory: memories } = (globalThis as unknown as { WebAssembly: { Memory: { readonly prototype: Memory } } })
  .WebAssembly
const { grow } = memories.prototype
let mostBytes = Infinity
let isLarge = false
let loaded: Promise<Jq> | undefined
/** Texts decoded by jq. The last two texts are output and errors, untrimmed. */
let decoded: string[] = []

// The limit of the thread excludes WebAssembly's memory. Beyond `mostBytes`, growth fails as if no memory were left.
memories.prototype.grow = function (this: Memory, pages: number): number {
  const bytes = this.buffer.byteLength + pages * 64 * 1024
  if (bytes > mostBytes) throw new RangeError('out of memory')
  isLarge ||= bytes > mostKept
  return grow.call(this, pages)
}

/** Limits the memory of WebAssembly programs in this thread, in bytes. */
export function limitPrograms(bytes: number): void {
  mostBytes = bytes
}

/** jq compiled to WebAssembly. Files are joined into one text. */
export const jq: Tool = async (call) => {
  const { host, context, given } = call
  const { options, operands } = parseArguments(jqOptions, given)
  const has = (...names: string[]) => options.some(({ name }) => names.includes(name))
  const output = new Output({ late: true })
  const [first = '', ...files] = operands
  let filter = first
  if (has(...fromFile)) {
    const [program] = await readOperands(call, [first], output, 2)
    if (program === undefined) return output.result()
    filter = textOf(program.bytes)
  }
  if (outside.test(filter)) host.refuse('jq', 'modules, and names and lines of files, are not known here')
  const readsNothing = has('-n', '--null-input') && !/\binputs?\b/.test(filter)
  const read = readsNothing ? [] : await readOperands(call, files, output, 2)
  const input = textOf(read.map(({ bytes }) => bytes).join(''))
  const flags = options
    .filter(({ name }) => !fromFile.includes(name))
    .flatMap(({ name, value }) => [name, ...(value === undefined ? [] : pairOf(value))])
  // The environment of jq itself is not the environment of the shell.
  const environment = ['--argjson', 'wsEnvironment', JSON.stringify(context.exportedEnv ?? {})]
  const asksForIt = /\benv\b|\$ENV\b/.test(filter)
  const program = asksForIt ? `def env: $wsEnvironment; $wsEnvironment as $ENV | ${filter}` : filter
  const interpreter = await load()
  host.check()
  try {
    decoded = []
    const { exitCode } = interpreter.raw(input, program, [...(asksForIt ? environment : []), ...flags])
    const [stdout = '', stderr = ''] = decoded.slice(-2)
    output.write(bytesOf(stdout))
    output.note(stderr)
    output.exitCode = Math.max(output.exitCode, exitCode)
  } catch {
    // Without memory, jq fails and cannot be called again. jq's own message is about its build.
    loaded = undefined
    output.fail(`jq: error: out of memory: the limit is ${mostBytes} bytes`, 134)
  }
  return output.result()

  function textOf(bytes: string): string {
    const text = decodeText(Buffer.from(bytes, 'latin1'))
    if (hasForeignBytes(text)) host.refuse('jq', 'the input is not UTF-8')
    return text
  }
}

/** Splits the two words after `--arg`: a name without spaces, and a value. */
function pairOf(value: string): [string, string] {
  const space = value.indexOf(' ')
  return [value.slice(0, space), value.slice(space + 1)]
}

async function load(): Promise<Jq> {
  if (isLarge) loaded = undefined
  isLarge = false
  loaded ??= loadListening()
  return await loaded
}

async function loadListening(): Promise<Jq> {
  const { loadJq } = await import('jq-wasm')
  const Decoder = globalThis.TextDecoder
  class Listening extends Decoder {
    override decode(...given: Parameters<InstanceType<typeof Decoder>['decode']>): string {
      const text = super.decode(...given)
      decoded.push(text)
      return text
    }
  }
  globalThis.TextDecoder = Listening
  try {
    return await loadJq()
  } finally {
    globalThis.TextDecoder = Decoder
  }
}
