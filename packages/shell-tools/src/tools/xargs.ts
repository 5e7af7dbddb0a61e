import type { Tool } from '../contract.ts'
import { readOperand, standardInput, wordsOf } from '../operands.ts'
import { Output } from '../output.ts'
import { parseArguments } from '../options.ts'
import { decodeText } from '../text.ts'

export const xargsOptions = {
  flags: '0rtx',
  valued: 'nILPda',
  long: [
    'null',
    'no-run-if-empty',
    'verbose',
    'max-args=',
    'replace=',
    'max-procs=',
    'delimiter=',
    'arg-file=',
    'max-lines=',
  ],
  leading: true,
}

const longNames: Readonly<Record<string, string>> = {
  '--null': '-0',
  '--no-run-if-empty': '-r',
  '--verbose': '-t',
  '--max-args': '-n',
  '--replace': '-I',
  '--max-procs': '-P',
  '--delimiter': '-d',
  '--arg-file': '-a',
  '--max-lines': '-L',
}

/** Limit of bytes of one command's arguments, as for GNU's `xargs` on Linux. */
const mostBytes = 131_072

interface Item {
  readonly text: string
  /** True if a logical line ends after this item. */
  readonly ends: boolean
}

export const xargs: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(xargsOptions, call.given)
  const values = new Map(options.map(({ name, value }) => [longNames[name] ?? name, value ?? '']))
  const command = operands.length === 0 ? ['echo'] : operands
  const replace = values.get('-I')
  const counts = ['-n', '-L'].filter((name) => values.has(name))
  if (counts.some((name) => !/^[1-9]\d*$/.test(values.get(name) ?? ''))) {
    output.fail(`xargs: value for ${counts[0]} option should be >= 1`)
    return output.result()
  }
  if (counts.length + (replace === undefined ? 0 : 1) > 1) call.host.refuse('xargs', 'more than one of -I, -L and -n')
  let bytes: string
  try {
    const file = values.get('-a')
    bytes = file === undefined ? standardInput(call) : await readOperand(call, file)
  } catch (error) {
    output.fail(`xargs: Cannot open input file '${values.get('-a')}': ${wordsOf(error)}`)
    return output.result()
  }
  const delimiter = values.has('-0') ? '\0' : delimiterOf(values.get('-d'))
  const { items, failed } =
    delimiter === undefined
      ? quotedItems(bytes, replace !== undefined)
      : { items: plainItems(bytes, delimiter), failed: false }
  const known = items.map(({ text, ends }) => ({ text: decodeText(Buffer.from(text, 'latin1')), ends }))
  const batches = batchesOf(known, { replace, values })
  if (batches.length === 0 && replace === undefined && !values.has('-r') && !failed) batches.push([])
  for (const batch of batches) {
    const words =
      replace === undefined
        ? [...command, ...batch]
        : command.map((word) => word.replaceAll(replace, () => batch[0] ?? ''))
    if (values.has('-t')) output.note(`${words.join(' ')}\n`)
    const result = await call.run(words, { stdin: values.has('-a') ? standardInput(call) : '' })
    output.relay(result)
    if (result.exitCode === 255) {
      output.fail(`xargs: ${command[0]}: exited with status 255; aborting`, 124)
      return output.result()
    }
    if (result.exitCode === 126 || result.exitCode === 127) {
      output.exitCode = result.exitCode
      return output.result()
    }
    if (result.exitCode !== 0) output.exitCode = 123
  }
  if (failed) {
    output.exitCode = 0
    output.fail('xargs: unmatched quote; by default quotes are special to xargs unless you use the -0 option')
  }
  return output.result()
}

function delimiterOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const escapes: Readonly<Record<string, string>> = { '\\n': '\n', '\\t': '\t', '\\0': '\0', '\\\\': '\\' }
  return escapes[text] ?? text
}

function plainItems(bytes: string, delimiter: string): Item[] {
  const parts = bytes.split(delimiter)
  if (parts.at(-1) === '') parts.pop()
  return parts.map((text) => ({ text, ends: true }))
}

/** Unquoted words, or whole lines for `-I`. Fails at an unclosed quote. */
function quotedItems(bytes: string, lines: boolean): { readonly items: Item[]; readonly failed: boolean } {
  const items: { text: string; ends: boolean }[] = []
  let word: string | undefined
  let blank = false
  const finish = (ends: boolean) => {
    if (word !== undefined) items.push({ text: word, ends })
    else if (ends && items.length > 0 && !blank) items[items.length - 1] = { ...(items.at(-1) as Item), ends }
    word = undefined
  }
  for (let index = 0; index < bytes.length; index++) {
    const character = bytes[index] ?? ''
    if (character === '\n') {
      // For -L, a blank at the end of a line joins the line to the next line.
      finish(!blank)
      blank = false
    } else if ((character === ' ' || character === '\t') && !(lines && word !== undefined)) {
      finish(false)
      blank = true
    } else if (character === '"' || character === "'") {
      const end = bytes.indexOf(character, index + 1)
      const text = end === -1 ? '\n' : bytes.slice(index + 1, end)
      if (text.includes('\n')) return { items, failed: true }
      word = (word ?? '') + text
      index = end
      blank = false
    } else if (character === '\\') {
      word = (word ?? '') + (bytes[++index] ?? '')
      blank = false
    } else {
      word = (word ?? '') + character
      blank = false
    }
  }
  finish(true)
  return { items, failed: false }
}

function batchesOf(
  items: readonly Item[],
  { replace, values }: { readonly replace: string | undefined; readonly values: ReadonlyMap<string, string> },
): string[][] {
  if (replace !== undefined) return items.map(({ text }) => [text])
  const most = Number(values.get('-n') ?? Infinity)
  const lines = Number(values.get('-L') ?? Infinity)
  const batches: string[][] = []
  let batch: string[] = []
  let size = 0
  let ended = 0
  for (const { text, ends } of items) {
    const length = Buffer.byteLength(text) + 1
    if (batch.length > 0 && (batch.length >= most || ended >= lines || size + length > mostBytes)) {
      batches.push(batch)
      batch = []
      size = 0
      ended = 0
    }
    batch.push(text)
    size += length
    if (ends) ended++
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}
