import type { Argument, Invocation } from '../invocation/invocation.ts'
import { namesOf } from '../paths/path-view.ts'
import { type Grammar, has, type Parsed } from './grammar.ts'

/** Reads files, and shows what is in them but not their names. */
const reader = (options = ''): Grammar => ({ options, operands: 'read', prints: 'never' })
/** The same, with lines as they are. */
const passer = (options = ''): Grammar => ({ ...reader(options), passes: true })
const checksum: Grammar = { options: '-a: --algorithm: -l: --length: -c! --check!', operands: 'read', passes: false }
const packer: Grammar = {
  options: '-S: --suffix: -T: --threads: --format: -F: -C: --memlimit: --files! --files0! --filelist!',
  operands: 'write',
  follows: ['-r', '--recursive'],
  prints: (parsed) => has(parsed, '-l', '--list', '-v', '-t', '--verbose'),
}

/** Programs that read text, and the few that write next to it. */
export const textPrograms: Readonly<Record<string, Grammar>> = {
  cat: passer(),
  tac: passer('-s! --separator! -r! --regex! -b! --before!'),
  nl: passer('-b: -d: -f: -h: -i: -l: -n: -s: -v: -w:'),
  head: {
    ...passer('-n: --lines: -c: --bytes:'),
    prints: 'several',
    passes: (parsed) => !has(parsed, '-c', '--bytes'),
  },
  tail: {
    ...passer('-n: --lines: -c: --bytes: -s: --sleep-interval: --pid: --max-unchanged-stats:'),
    prints: 'several',
    passes: (parsed) => !has(parsed, '-c', '--bytes'),
  },
  wc: {
    options: '--files0-from! --total:',
    operands: 'read',
    passes: (parsed) =>
      has(parsed, '-l', '--lines') && !has(parsed, '-c', '-w', '-m', '-L', '--bytes', '--words', '--chars'),
    prints: 'always',
  },
  sort: {
    options:
      '-o=write --output=write -k: --key: -t: --field-separator: -S: --buffer-size: -T=write --temporary-directory=write --batch-size: --parallel: --sort: --random-source=read --files0-from! --compress-program!',
    operands: 'read',
    prints: 'never',
    passes: ({ values }) => !values.has('-k') && !values.has('--key') && !values.has('-o') && !values.has('--output'),
  },
  uniq: {
    options: '-f: --skip-fields: -s: --skip-chars: -w: --check-chars: --group~ --all-repeated~',
    prints: 'never',
    passes: ({ values, operands }) => values.size === 0 && operands.length < 2,
    operands(call, { operands: [input, output] }) {
      if (input !== undefined) call.path(input, 'read')
      if (output !== undefined) call.path(output, 'write')
    },
  },
  shuf: {
    options: '-n: --head-count: -i: --input-range: -o=write --output=write --random-source=read',
    prints: 'never',
    passes: ({ values }) => values.size === 0,
    operands(call, parsed) {
      for (const operand of parsed.operands) {
        if (has(parsed, '-e', '--echo')) call.text(operand)
        else call.path(operand, 'read')
      }
    },
  },
  cut: reader('-b: --bytes: -c: --characters: -d: --delimiter: -f: --fields: --output-delimiter:'),
  paste: reader('-d: --delimiters:'),
  comm: reader('--output-delimiter:'),
  join: reader('-a: -e: -i -j: -o: -t: -v: -1: -2:'.replace('-i ', '')),
  fold: reader('-w: --width:'),
  fmt: reader('-w: --width: -p: --prefix: -g: --goal:'),
  expand: reader('-t: --tabs:'),
  unexpand: reader('-t: --tabs:'),
  rev: reader(),
  column: reader(
    '-s: --separator: -o: --output-separator: -c: --output-width: -N: -R: -E: -H: -O: -W: -n: -l: --table-columns:',
  ),
  od: reader('-A: --address-radix: -j: --skip-bytes: -N: --read-bytes: -S: -t: --format: -w~'),
  tsort: passer(),
  base64: reader('-w: --wrap:'),
  base32: reader('-w: --wrap:'),
  iconv: reader('-f: -t: --from-code: --to-code: -o=write --output=write'),
  cmp: { options: '-i: --ignore-initial: -n: --bytes:', operands: 'read' },
  diff: {
    options:
      '-U: --unified~ -C: --context~ -W: --width: -I: --ignore-matching-lines: -x: --exclude: -X=read --exclude-from=read -F: --show-function-line: --label: -L: --color~ --tabsize: -S: --starting-file: --from-file=read --to-file=read -D: --ifdef: --line-format: --horizon-lines: --palette: --old-line-format: --new-line-format: --unchanged-line-format: --old-group-format: --new-group-format: --changed-group-format:',
    operands: 'read',
    // It follows links by default.
    follows: ['-r', '--recursive'],
    prints: (parsed) =>
      has(parsed, '-u', '-U', '--unified', '-c', '-C', '--context', '-r', '--recursive', '-q', '--brief', '-s', '-N') ||
      true,
  },
  cksum: checksum,
  md5sum: checksum,
  sha1sum: checksum,
  sha224sum: checksum,
  sha256sum: checksum,
  sha384sum: checksum,
  sha512sum: checksum,
  gzip: packer,
  gunzip: packer,
  bzip2: packer,
  xz: packer,
  zcat: reader(),
  bzcat: reader(),
  xzcat: reader(),

  basename: {
    options: '-s: --suffix:',
    operands(call, { operands }) {
      for (const operand of operands) checkPart(call, operand)
      return { prints: false }
    },
  },
  dirname: {
    options: '',
    operands(call, { operands }) {
      for (const operand of operands) checkPart(call, operand)
    },
  },
  date: {
    options: '-d: --date: -f=read --file=read -r=read --reference=read -s! --set! -I~ --iso-8601~ --rfc-3339:',
    // Unlike those of `text`, a word that is not known is refused: it could be an option with a file.
    operands: (call, { operands }) => operands.forEach((operand) => call.text(operand)),
  },
  seq: { options: '-f: --format: -s: --separator:', operands: 'text' },
  expr: { operands: 'text' },
  tr: {
    operands: (call, { operands }) => operands.forEach((operand) => call.text(operand)),
    prints: 'never',
    passes: isNulToLine,
  },
  sleep: { operands: 'text' },
  yes: { operands: 'text' },
  id: {
    // Names are those of this machine.
    operands(call, { operands, options }) {
      if (operands.length > 0 || options.size !== 1 || !(options.has('-u') || options.has('-g'))) call.refuse('option')
    },
  },
  nproc: { options: '--ignore:', operands: 'text' },
  arch: { operands: 'text' },
  sync: { operands: 'look', prints: 'never' },
  which: { operands: 'text', prints: 'absolute' },
}

/** Between NULs and line ends, names stay as they are. */
function isNulToLine({ operands, options }: Parsed): boolean {
  const [from, to] = operands.map(({ value }) => value.text)
  const sets = new Set([String.raw`\0`, String.raw`\000`, String.raw`\n`, '\n'])
  return options.size === 0 && from !== undefined && to !== undefined && sets.has(from) && sets.has(to)
}

/** The name of a mount's own directory on this machine, and its place, are not part of the workspace. */
function checkPart(call: Invocation, operand: Argument): void {
  const { text, tainted } = operand.value
  const { mounts } = call.context.settings.view
  const isMount = (path: string) => mounts.some(({ at }) => namesOf(at).join('/') === namesOf(path).join('/'))
  if (tainted && (text === undefined || isMount(text))) call.refuse('shown', operand)
  call.text(operand, { tainted: true })
}
