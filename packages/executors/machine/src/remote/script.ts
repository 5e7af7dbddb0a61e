import { quoteForShell } from '@ws/core/executor'

/** A file on the machine that brings changes: an archive, names to remove, the known list of files, the input, and a long command. */
export interface Bundle {
  readonly path: string
  readonly archive: number
  readonly gone: number
  readonly known: number
  readonly input: number
  readonly text: number
}

export interface Order {
  readonly root: string
  /** The directory of this package's files on the machine. */
  readonly state: string
  /** The number of the root's directory, by which another directory in its place is noticed. */
  readonly inode: string
  /** The word before each message. No other program knows it. */
  readonly marker: string
  /** True: output passes through strings, so that files travel as base64. */
  readonly isText: boolean
  readonly bundle?: Bundle | undefined
  /** The digest of the list of files that this side knows. Absent: the bundle has the list. */
  readonly digest?: string | undefined
  /** An earlier bundle. It is still there if the machine did not take it in whole. */
  readonly pending?: string | undefined
  /** Absent: the script only gives the changes. */
  readonly command?: OrderedCommand | undefined
}

export interface OrderedCommand {
  readonly cwd: string
  readonly input: 'none' | 'file' | 'stream'
  /** The number of variables. Variable `n` is in `WS_V<n>` as `NAME=value`, so that it reaches the command alone. */
  readonly variables: number
  /** A long command in the bundle is the last argument, or descriptor 9. */
  readonly text: 'none' | 'argument' | 'descriptor'
}

/**
 * Lists a tree as records that end with NUL: type, mode, size, inode, ctime, mtime, path, `//`, and the target of a link.
 * A changed file has another inode or ctime, which no program can set. Directories that may not be read are `x`.
 */
const listing = String.raw`
c() { LC_ALL=C "$@"; }
say() { printf '%s %s\n' "$marker" "$1"; }
fail() { say "fail $1 $(head -c 300 "$work/err" 2>/dev/null | tr '\n' ' ')"; exit 0; }
number() { c find "$root/." -maxdepth 0 -printf %i 2>/dev/null; }
list() {
  cd -- "$root" && c find . -ignore_readdir_race -mindepth 1 \
    \( -type d ! \( -readable -executable \) -printf 'x %m /%P//\0' -prune \) -o \
    -type d -printf 'd %m /%P//\0' -o -type f -printf 'f %m %s %i %C@ %T@ /%P//\0' -o \
    -type l -printf 'l 777 %i %C@ /%P//%l\0' >"$work/raw" 2>"$work/err" && c sort -z "$work/raw" >"$work/$1" 2>"$work/err"
}
bytes() { c wc -c <"$work/$1" | tr -d ' '; }
compare() {
  c comm -z -23 "$work/was" "$work/now" >"$work/gone" && c comm -z -13 "$work/was" "$work/now" >"$work/new"
}
part() { tail -c +"$(($1 + 1))" "$bundle" | head -c "$2"; }
remove() { part "$archive" "$gone" | c xargs -0 -r rm -fd -- 2>/dev/null; }
shut() { c xargs -0 -r -a "$work/shut" chmod "$1" -- 2>/dev/null; }
unpack() { part 0 "$archive" | c tar -xpf - --no-same-owner -C "$root" 2>"$work/err"; }
work=$(mktemp -d "$state/c-XXXXXX") || { say 'fail temporary files'; exit 0; }
trap 'rm -rf -- "$work"' EXIT
`

/** Brings the bundle in. Refuses if the machine has changes that this side does not know. */
const bring = String.raw`
[ "$(number)" = "$inode" ] || { say "moved 0 $(c find "$root/." -mindepth 1 -printf x -quit 2>/dev/null)"; exit 0; }
list now || fail list
stale=0
if [ -n "$digest" ]; then
  [ "$(c sha256sum <"$work/now" | cut -c1-64)" = "$digest" ] || stale=1
  cp "$work/now" "$work/was"
else
  part "$((archive + gone))" "$known" >"$work/was"
fi
if [ "$((archive + gone))" -gt 0 ]; then
  [ "$stale" = 0 ] || { rm -f -- "$bundle"; say stale; exit 0; }
  # a directory that a command has made read-only loses files of the workspace all the same, and keeps its mode
  remove || {
    c find . -type d ! -writable -print0 >"$work/shut" 2>/dev/null
    shut u+w; remove; shut u-w
  }
  if [ "$archive" -gt 0 ]; then
    # a directory that a command has made read-only takes files of the workspace all the same
    unpack || { c find . -type d ! -writable -exec chmod u+w {} + 2>/dev/null; unpack; } || fail archive
  fi
  list now || fail list
fi
if [ -n "$bundle" ]; then
  part "$((archive + gone + known))" "$input" >"$work/input"
  part "$((archive + gone + known + input))" "$text" >"$work/text"
  rm -f -- "$bundle"
fi
`

/** Runs the command in a session of its own, which ends with it. The session's leader reports its id before the command starts. */
const run = (variables: readonly string[]): string => String.raw`
compare || fail list
(cd -- "$cwd") 2>"$work/err" || fail directory
cat "$work/gone" "$work/new" | $encode >"$work/sent"
say "go $stale $(bytes sent) $(bytes gone)"
cat "$work/sent"
case $stdin in
  stream) exec 3<&0 ;;
  file) exec 3<"$work/input" ;;
  *) exec 3</dev/null ;;
esac
case $long in
  argument) word=$(cat "$work/text"; printf .); set -- "$@" "${'$'}{word%.}" ;;
  descriptor) exec 9<"$work/text" ;;
esac
(cd -- "$cwd" || exit 127; exec setsid sh -c 'printf "%s\n" "$$"; exec env ${variables.map((name) => `-u ${name}`).join(' ')} ${variables.map((name) => `"$${name}"`).join(' ')} "$@"' sh "$@" <&3 3<&-) &
pid=$!
exec 3<&- 9<&-
wait "$pid" 2>/dev/null
status=$?
kill -KILL -- "-$pid" 2>/dev/null
printf '%s' "$marker" >&2
mv "$work/now" "$work/was"
list now
`

/** Gives what has changed: records that are gone, new records, digests of the new files, and their archive. */
const give = String.raw`
[ "$(number)" = "$inode" ] || { say "moved $status"; exit 0; }
[ -e "$work/now" ] && compare || { say "unlisted $status"; exit 0; }
left=0
if [ -n "$pending" ] && [ -e "$pending" ]; then left=1; rm -f -- "$pending"; fi
c sed -z -n 's|^f [^/]*/\(.*\)//$|./\1|p' "$work/new" >"$work/files"
c xargs -0 -r -a "$work/files" sha256sum -z -- >"$work/sums" 2>/dev/null
cat "$work/gone" "$work/new" "$work/sums" >"$work/lists"
say "end $status $stale $(bytes gone) $(bytes new) $(bytes sums) $(c sha256sum <"$work/lists" | cut -c1-64) $left"
{ cat "$work/lists"; c tar -cf - --format=gnu --no-recursion --hard-dereference --null -T "$work/files" 2>/dev/null; } | $encode
`

/** The program of an order. Its arguments are the command's program and arguments. */
export function scriptOf({
  root,
  state,
  inode,
  marker,
  isText,
  bundle,
  digest = '',
  pending = '',
  command,
}: Order): string {
  const { path = '', archive = 0, gone = 0, known = 0, input = 0, text = 0 } = bundle ?? {}
  const { cwd = root, input: stdin = 'none', text: long = 'none' } = command ?? {}
  const values = {
    root,
    state,
    inode,
    bundle: path,
    digest,
    pending,
    encode: isText ? 'base64 -w0' : 'cat',
    cwd,
    stdin,
    long,
  }
  const lines = Object.entries({ ...values, archive, gone, known, input, text }).map(
    ([name, value]) => `${name}=${quoteForShell(String(value))}`,
  )
  // a command that lists processes prints this text: the marker is not in it as one word
  lines.push(`marker=${marker.slice(0, 9)}''${marker.slice(9)}`) // @defence `''` output that looks like a message of this package: lists processes
  const variables = Array.from({ length: command?.variables ?? 0 }, (_, index) => variableOf(index))
  return [...lines, listing, bring, command === undefined ? 'status=0' : run(variables), give].join('\n')
}

export const variableOf = (index: number): string => `WS_V${index}`

/** Programs that a machine must have. */
export const neededPrograms = ['find', 'tar', 'sort', 'comm', 'sed', 'xargs', 'sha256sum', 'setsid', 'mktemp'] as const

/** Looks for the programs, and for output that is not bytes. Prints a line for each fact. */
export const probeScript = String.raw`
for program in ${neededPrograms.join(' ')}; do
  command -v "$program" >/dev/null 2>&1 || printf 'missing %s\n' "$program"
done
find / -maxdepth 0 -printf '' 2>/dev/null || printf 'missing %s\n' 'find'
tar --version 2>/dev/null | grep -q GNU || printf 'missing %s\n' 'tar'
printf 'a\0' | LC_ALL=C comm -z -23 - /dev/null >/dev/null 2>&1 || printf 'missing %s\n' 'comm'
printf 'shell %s\n' "$(command -v bash || command -v sh)"
command -v perl >/dev/null 2>&1 && echo perl
printf 'bytes \377\200\n'
`

/** Makes the root and a directory for this package's files. Prints their numbers and names. */
export const openScript = (root: string): string => String.raw`
root=${quoteForShell(root)}
mkdir -p -- "$root" && cd -- "$root" || { echo unmade; exit 0; }
[ -z "$(find . -mindepth 1 -printf x -quit)" ] || { echo full; exit 0; }
state=$(mktemp -d "${'$'}{TMPDIR:-/tmp}/ws-XXXXXX") || { echo unmade; exit 0; }
printf 'open %s %s\n' "$(find . -maxdepth 0 -printf %i)" "$state"
`
