import { type Argument, type Invocation, textOf } from '../invocation/invocation.ts'
import { refuse } from '../refusal.ts'
import { startsOf } from '../invocation/path-words.ts'
import { lookAt } from '../paths/links.ts'
import { namesOf } from '../paths/path-view.ts'
import { type Grammar, has, type Parsed } from './grammar.ts'

const copy: Grammar = {
  options:
    '-t=write --target-directory=write -S: --suffix: --reflink~ --preserve~ --no-preserve: --sparse: --backup~ --context~ -s! --symbolic-link!',
  prints: (parsed) => has(parsed, '-v', '--verbose'),
  operands(call, parsed) {
    const asLinks = has(
      parsed,
      '-r',
      '-R',
      '--recursive',
      '-a',
      '--archive',
      '-P',
      '--no-dereference',
      '-d',
      '-l',
      '--link',
    )
    const follows = has(parsed, '-L', '--dereference', '-H')
    if (has(parsed, '--parents')) call.refuse('stored')
    const { sources, destination } = split(parsed)
    for (const source of sources) {
      call.path(source, asLinks && !follows ? 'look' : 'read')
      if (asLinks) movesLinks(call, source, !follows)
    }
    if (destination !== undefined) call.path(destination, 'write')
  },
}

const move: Grammar = {
  options: '-t=write --target-directory=write -S: --suffix: --backup~ --context~',
  prints: (parsed) => has(parsed, '-v', '--verbose'),
  operands(call, parsed) {
    const { sources, destination } = split(parsed)
    for (const source of sources) {
      call.path(source, 'remove')
      refuseRoot(call, source)
      movesLinks(call, source, true)
    }
    if (destination !== undefined) call.path(destination, 'write')
  },
}

/** A link that is moved or copied must not lead out from its new place. */
function movesLinks(call: Invocation, source: Argument, climbing: boolean): void {
  call.tree(source, { climbing })
  call.context.facts.links = true
  if (source.value.placed) call.context.facts.unchecked = true
}

function split({ operands, values }: Parsed): { sources: readonly Argument[]; destination: Argument | undefined } {
  if (values.has('-t') || values.has('--target-directory')) return { sources: operands, destination: undefined }
  return { sources: operands.slice(0, -1), destination: operands.at(-1) }
}

const link: Grammar = {
  options: '-t=write --target-directory=write -S: --suffix: --backup~',
  prints: (parsed) => has(parsed, '-v', '--verbose'),
  operands(call, parsed) {
    const { operands } = parsed
    const inTarget = parsed.values.has('-t') || parsed.values.has('--target-directory')
    const symbolic = has(parsed, '-s', '--symbolic')
    call.context.facts.links = true
    const targets = inTarget || operands.length < 2 ? operands : operands.slice(0, -1)
    const place = inTarget || operands.length < 2 ? undefined : operands.at(-1)
    if (place !== undefined) call.path(place, 'remove')
    for (const target of targets) {
      if (!symbolic || has(parsed, '-r', '--relative')) {
        call.path(target, symbolic ? 'look' : 'read')
        if (!symbolic) movesLinks(call, target, true)
      } else checkLinkText(call, target, inTarget ? undefined : place)
    }
  },
}

/** A link's text must mean the same in a view and here, and lead inside from wherever it is made. */
function checkLinkText(call: Invocation, target: Argument, place: Argument | undefined): void {
  const text = textOf(target)
  if (text === undefined) return refuse('unknown', target.word.text)
  if (text.startsWith('/')) return refuse('stored', target.word.text, 'make a relative link')
  if (!namesOf(text).includes('..')) return
  const at = place === undefined ? '.' : textOf(place)
  const starts = at === undefined || namesOf(at).includes('..') ? [] : startsOf(at, call)
  if (starts.length === 0) return refuse('climbs', target.word.text)
  for (const start of starts) {
    // Whether the last name is a directory, in which the link is made, or the link itself, need not be known.
    const names = namesOf(start).slice(0, place === undefined ? undefined : -1)
    const mount = call.context.settings.view.mountOf(`/${names.join('/')}`)
    let depth = names.length - namesOf(mount?.at ?? '/').length
    for (const name of namesOf(text)) if ((depth += name === '..' ? -1 : 1) < 0) refuse('climbs', target.word.text)
  }
}

/** In a view the root cannot be removed; here it is a directory like any other. */
function refuseRoot(call: Invocation, argument: Argument): void {
  for (const start of startsOf(argument.value.text ?? '', call)) {
    const place = call.context.settings.view.resolve(start)
    if (place.kind === 'mount' && namesOf(place.inside).length === 0) refuse('mount', argument.word.text)
  }
}

const list: Grammar = {
  options:
    '-I: --ignore: --hide: -w: --width: -T: --tabsize: --color~ --format! --sort: --time: --time-style: --block-size: --quoting-style: --indicator-style: --hyperlink!',
  operands(call, parsed) {
    // Names of users are those of this machine.
    const named = has(parsed, '-l', '-o', '-g', '--full-time') && !has(parsed, '-n', '--numeric-uid-gid')
    if (named) refuse('option', call.written, 'use `ls -n`')
    for (const operand of parsed.operands) call.path(operand, 'read')
  },
  recursive: ['-R', '--recursive'],
  follows: ['-L', '--dereference'],
  prints: (parsed, call) => has(parsed, '-d', '--directory', '-R', '--recursive') || !isOneDirectory(parsed, call),
}

/** True for a single directory: `ls` then shows its entries without its name. */
function isOneDirectory({ operands: [only, ...others] }: Parsed, call: Invocation): boolean {
  if (only === undefined || others.length > 0 || only.value.glob) return false
  const text = textOf(only)
  const host = text?.startsWith('/') ? call.context.settings.view.hostOf(text) : undefined
  return host !== undefined && lookAt(host)?.isDirectory() === true
}

const removing: Grammar = {
  options: '--interactive~ --preserve-root~',
  recursive: ['-r', '-R', '--recursive'],
  prints: (parsed) => has(parsed, '-v', '--verbose'),
  operands(call, { operands }) {
    for (const operand of operands) {
      call.path(operand, 'remove')
      refuseRoot(call, operand)
    }
  },
}

const mode: Grammar = {
  options: '--reference=read --from:',
  follows: ['-L', '-H'],
  recursive: ['-R', '--recursive'],
  prints: (parsed) => has(parsed, '-v', '-c', '--verbose', '--changes'),
  operands(call, parsed) {
    // `chmod -w file` has its mode among the options.
    const inOptions =
      parsed.values.has('--reference') || has(parsed, '-r', '-w', '-x', '-X', '-s', '-t', '-u', '-g', '-o')
    const paths = inOptions ? parsed.operands : parsed.operands.slice(1)
    for (const path of paths) call.path(path, 'write')
  },
}

/** Programs that make, move and remove files. */
export const filePrograms: Readonly<Record<string, Grammar>> = {
  cp: copy,
  mv: move,
  ln: link,
  ls: list,
  dir: list,
  vdir: list,
  rm: removing,
  rmdir: removing,
  unlink: removing,
  chmod: mode,
  chown: mode,
  chgrp: mode,
  mkdir: { options: '-m: --mode: --context~', operands: 'write', prints: (parsed) => has(parsed, '-v', '--verbose') },
  mkfifo: { options: '-m: --mode:', operands: 'write', prints: 'never' },
  touch: { options: '-r=read --reference=read -d: --date: -t: --time:', operands: 'write', prints: 'never' },
  truncate: { options: '-s: --size: -r=read --reference=read', operands: 'write', prints: 'never' },
  install: {
    ...copy,
    options:
      '-t=write --target-directory=write -m: --mode: -o: --owner: -g: --group: -S: --suffix: --backup~ --strip-program! -s!',
    operands(call, parsed) {
      const { sources, destination } = split(parsed)
      const directories = has(parsed, '-d', '--directory')
      for (const source of sources) call.path(source, directories ? 'write' : 'read')
      if (destination !== undefined) call.path(destination, 'write')
    },
  },
  dd: {
    operands(call, { operands }) {
      for (const operand of operands) {
        const name = /^[a-z]+=/.exec(operand.value.text ?? '')?.[0] ?? ''
        if (name === 'if=' || name === 'of=') call.attached(operand, name.length, name === 'if=' ? 'read' : 'write')
        else call.text(operand)
      }
    },
    prints: 'never',
  },
  tee: {
    operands(call, { operands }) {
      for (const operand of operands) call.path(operand, 'write')
      if (call.context.tainted && operands.length > 0) call.refuse('stored', operands[0])
    },
    options: '--output-error~',
    prints: 'never',
    passes: true,
  },
  split: {
    options:
      '-b: --bytes: -l: --lines: -n: --number: -a: --suffix-length: --additional-suffix: -C: --line-bytes: -t: --separator: --numeric-suffixes~ --hex-suffixes~ --filter!',
    prints: (parsed) => has(parsed, '--verbose'),
    operands(call, { operands: [input, prefix] }) {
      if (input !== undefined) call.path(input, 'read')
      if (prefix !== undefined) call.path(prefix, 'write')
    },
  },
  realpath: { options: '--relative-to=read --relative-base=read', operands: 'read', prints: 'absolute' },
  readlink: { operands: 'read', prints: 'absolute' },
  stat: {
    options: '-c: --format: --printf: --cached~ -f! --file-system! -t! --terse!',
    operands(call, { operands, values }) {
      for (const operand of operands) call.path(operand, 'look')
      const formats = ['-c', '--format', '--printf'].flatMap((name) => values.get(name) ?? [])
      // Names of users, and mount points, are those of this machine.
      if (formats.length === 0 || formats.some((format) => /%[-#0-9.]*[UGm]/.test(textOf(format) ?? '%U')))
        call.refuse('option', formats[0])
    },
  },
  file: { options: '-f! --files-from! -m=read -F: --separator: -e: -P:', operands: 'look' },
  du: {
    options:
      '-d: --max-depth: -t: --threshold: -B: --block-size: --exclude: -X=read --exclude-from=read --time~ --time-style: --files0-from!',
    operands: 'look',
    follows: ['-L', '--dereference', '-D', '-H'],
    recursive: ['-a', '-c', '-h', '-k', '-m', '-s', '--summarize'],
  },
  tree: {
    options: '-L: -I: -P: -o=write --charset: --filelimit: --timefmt: --fromfile!',
    operands: 'look',
    follows: ['-l'],
    recursive: ['-a', '-d', '-f'],
  },
  mktemp: {
    options: '-p=write --tmpdir! --suffix: -t!',
    operands(call, { operands }) {
      for (const operand of operands) {
        call.path(operand, 'write')
        // it would take an X of the directory for the template's, and show the rest of the path
        if (!/X[^/]*$/.test(operand.value.text ?? '')) {
          call.refuse('template', operand)
        }
      }
    },
    prints: 'absolute',
  },
}
