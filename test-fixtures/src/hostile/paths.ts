import { disguisedParents, traversals } from './traversal.ts'
import { type Hostile, kind } from './types.ts'

const bidi = ['\u202a', '\u202b', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u200e', '\u200f', '\u061c']

const nul = [
  '\0',
  'file.txt\0',
  '\0file.txt',
  'file.txt\0.png',
  'dir\0/../x',
  'dir/\0',
  '/\0',
  '../t12/secret.txt\0',
  `${'a'.repeat(300)}\0`,
]

const surrogates = ['\ud800', 'a\udfff', '\udc00\ud800', 'dir/\ud83d', '\ud800/../file.txt']

const windows = [
  '\\\\server\\share\\secret.txt',
  '//server/share/secret.txt',
  '\\\\?\\C:\\Windows',
  '\\\\?\\UNC\\server\\share',
  '\\\\.\\pipe\\x',
  '\\\\.\\C:\\secret.txt',
  '//?/C:/Windows',
  '//./COM1',
  '\\??\\C:\\x',
  'C:',
  'C:\\',
  'C:/',
  'C:secret.txt',
  'C:..\\secret.txt',
  'c:\\..\\t12\\secret.txt',
  'C:/../../etc/passwd',
  '/C:/Windows/win.ini',
  'file.txt:stream',
  'file.txt::$DATA',
  'file.txt:Zone.Identifier',
  'dir::$INDEX_ALLOCATION',
  'dir:$I30:$INDEX_ALLOCATION/x',
  '.git::$INDEX_ALLOCATION',
  'CON',
  'nul',
  'NUL.txt',
  'COM1',
  'LPT1.log',
  'AUX',
  'PRN',
  'CONIN$',
  'dir\\file.txt',
  'dir\\..\\..\\t12\\secret.txt',
  '\\dir\\x',
  'PROGRA~1',
  'FILE~1.TXT',
  '%SystemRoot%\\x',
  '%HOME%',
]

const schemes = [
  'file:///etc/passwd',
  'file://localhost/etc/passwd',
  'file:../t12/secret.txt',
  'http://127.0.0.1/x',
  's3://bucket/key',
  'data:text/plain,x',
  'view-source:file:///etc/passwd',
  'jar:file:x!/y',
  'php://filter/resource=x',
  'expect://id',
  '/dev/tcp/127.0.0.1/1',
]

const trailing = [
  'file.txt/',
  'file.txt//',
  'file.txt/.',
  'file.txt/./',
  'file.txt/..',
  'file.txt.',
  'file.txt..',
  'file.txt...',
  'file.txt ',
  'file.txt  ',
  'file.txt. ',
  'file.txt .',
  'file.txt\t',
  'file.txt\n',
  'file.txt\r\n',
  'file.txt\u00a0',
  'file.txt\u3000',
  'FILE.TXT',
  'File.txt',
  'dir/',
  'dir//',
  'dir/.',
  'dir/./.',
  'dir///x///',
  'dir/x/',
  'dir.',
  'dir ',
  ' dir/x',
  'dir /x',
  'in/',
  'in/.',
  'in//',
  'missing/',
  'missing/.',
  '',
  '.',
  './',
  './.',
  '/',
  '//',
  '///',
  '/.',
  '/./',
  ' ',
  '/ ',
  './/./file.txt',
  '//file.txt',
  '///dir////x',
  `${'./'.repeat(900)}file.txt`,
  `${'/'.repeat(2_000)}file.txt`,
]

/** Bytes of a name at and around the limit (255), and of a path (4,095), in one byte and in more bytes a character. */
const long = [
  'n'.repeat(254),
  'n'.repeat(255),
  'n'.repeat(256),
  'n'.repeat(4_096),
  'é'.repeat(127),
  `${'é'.repeat(127)}n`,
  'é'.repeat(128),
  '日'.repeat(85),
  '日'.repeat(86),
  '🙂'.repeat(63),
  `${'🙂'.repeat(63)}abc`,
  '🙂'.repeat(64),
  'e\u0301'.repeat(85),
  'e\u0301'.repeat(86),
  `dir/${'n'.repeat(255)}`,
  `dir/${'n'.repeat(256)}`,
  `${'n'.repeat(256)}/x`,
  `${'n'.repeat(256)}/../file.txt`,
  `/${'d/'.repeat(2_046)}xy`,
  `/${'d/'.repeat(2_047)}x`,
  `/${'d/'.repeat(2_048)}x`,
  `/${`${'m'.repeat(254)}/`.repeat(16)}`.slice(0, 4_095),
  `/${`${'m'.repeat(254)}/`.repeat(17)}`.slice(0, 4_096),
  `/${'é/'.repeat(1_364)}`,
  `/${'é/'.repeat(1_365)}x`,
  'x/'.repeat(50_000),
  'n'.repeat(1_000_000),
]

/** Links of the kernel that lead where their text does not say, and other ways into the system's own trees. */
const magic = [
  '/proc/self/root',
  '/proc/self/root/etc/passwd',
  '/proc/self/cwd',
  '/proc/self/cwd/../t12/secret.txt',
  '/proc/self/exe',
  '/proc/self/environ',
  '/proc/self/mem',
  '/proc/self/maps',
  '/proc/self/mountinfo',
  '/proc/self/fd',
  '/proc/self/fd/0',
  '/proc/self/fd/1',
  '/proc/self/fd/3',
  '/proc/self/fd/20/../t12/secret.txt',
  '/proc/self/task/self/root',
  '/proc/thread-self/root/etc/passwd',
  '/proc/1/root/etc/passwd',
  '/proc/1/cwd',
  '/proc/1/environ',
  '/proc/sys/kernel/hostname',
  '/proc/../proc/self/root',
  '/dev/fd',
  '/dev/fd/0',
  '/dev/fd/3',
  '/dev/stdin',
  '/dev/stdout',
  '/dev/shm/x',
  '/dev/null',
  '/dev/zero',
  '/dev/mem',
  '/sys/kernel/x',
  '/run/secrets/x',
  '/etc/passwd',
  '/etc/shadow',
  '/etc/../etc/passwd',
  '/root/.ssh/id_rsa',
  '/usr/../etc/passwd',
  '/bin/sh',
  '/lib/x',
  '/tmp/../etc/passwd',
  'proc/self/root',
  './proc/self/cwd',
  'dev/fd/0',
]

const aliases = [
  '/workspace/../t12/secret.txt',
  '/workspace/../../etc/passwd',
  '/workspace/..',
  '/workspaces/file.txt',
  '/workspace_backup/secret.txt',
  '/workspace2',
  '/WORKSPACE/file.txt',
  '/mnt/r2/x',
]

const terminal = [
  'a\nb',
  '\n',
  '\nfile.txt',
  'a\rb',
  'a\r\nb',
  '\u001b[2J',
  '\u001b]0;owned\u0007',
  '\u001b]8;;http://x\u0007y\u001b]8;;\u0007',
  '\u001b[31mred\u001b[0m',
  '\u001bP0;1|17/x\u001b\\',
  '\u009b2J',
  '\u009d0;x\u009c',
  '\u0007',
  '\u0008\u0008\u0008',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u2029',
  'a\tb',
  '\v\f',
  '\u0000b'.slice(1),
  ...Array.from({ length: 31 }, (_, index) => `c${String.fromCharCode(index + 1)}c`),
  'dir/\u001b[2J/x',
]

const confusing = [
  ...bidi.map((mark) => `a${mark}txt.exe`),
  '\ufeff',
  '\ufefffile.txt',
  'file\u200b.txt',
  'fi\u00adle.txt',
  'ﬁle.txt',
  'f\u0456le.txt',
  'file\u2024txt',
  '\u00c5',
  'A\u030a',
  '\u212b',
  '\ud83d\udc68\u200d\ud83d\udcbb',
  'ſ',
  'K\u212a',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '__proto__/x',
]

const odd = [
  "it's",
  '"quoted"',
  'a|b',
  'a;b',
  'a&b',
  'a b',
  'a>b',
  'a<b',
  '$(id)',
  '`id`',
  '${x}',
  '-rf',
  '--',
  '-',
  '#',
  '!',
  '?',
  '*',
  '[a]',
  '{a,b}',
  '@',
  '=',
  '+',
  '%s%n',
  '%n',
  '%',
  '%00',
  '%0a',
  '%2500',
  'a\\nb',
  'a\\',
  '.git/config',
  '.ws-tmp-x',
  'dir/.ws-tmp-x',
  '.ws-tmp-',
  '.wh.x',
  '.nfs0001',
  '..x',
  '.x.',
  '...',
]

/**
 * A few hundred paths that an attacker may give, for a workspace whose root holds `file.txt`, `dir/x`, `dir/sub/y` and
 * the link `in` to `file.txt`, with `../t12/secret.txt` beside it.
 *
 * @param canary host path of the secret beside the root, to be asked for by its own name
 */
export function hostilePaths(canary = '/root/secret.txt'): readonly Hostile[] {
  const own = [
    canary,
    `/${canary}`,
    `.${canary}`,
    `/workspace${canary}`,
    `${canary}/`,
    `/proc/self/root${canary}`,
    `dir/..${canary}`,
    encodeURI(canary),
    encodeURIComponent(canary),
  ]
  const all = [
    ...kind('host path', own),
    ...traversals,
    ...kind('NUL', nul),
    ...kind('lone surrogate', surrogates),
    ...kind('UNC, drive and stream', windows),
    ...kind('scheme', schemes),
    ...kind('trailing dots, spaces and slashes', trailing),
    ...kind('over-long', long),
    ...kind('magic link', magic),
    ...kind('alias', aliases),
    ...kind('newline and terminal', terminal),
    ...kind('bidi and confusing', confusing),
    ...kind('odd', odd),
  ]
  return [...new Map(all.map((hostile) => [hostile.value, hostile])).values()]
}

const isName = (value: string): boolean =>
  value !== '' &&
  value !== '.' &&
  value !== '..' &&
  !/[/\0]/.test(value) &&
  value.isWellFormed() &&
  Buffer.byteLength(value) <= 255

/** Names that a file may have: each survives byte for byte, and means nothing but itself. Temporary names are left out. */
export function hostileNames(): readonly Hostile[] {
  const pieces = [...hostilePaths(), ...disguisedParents].flatMap(({ kind: name, value }) =>
    value.length > 10_000 ? [] : value.split('/').map((piece) => ({ kind: name, value: piece })),
  )
  const names = new Map<string, Hostile>()
  for (const piece of pieces) {
    if (isName(piece.value) && !piece.value.startsWith('.ws-tmp-') && !names.has(piece.value))
      names.set(piece.value, piece)
  }
  return [...names.values()]
}
