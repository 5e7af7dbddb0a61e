/** @module-tag all */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { decodeText, encodeText } from '@ws/shell-tools/files'
import { open } from './support.ts'

const files = {
  bytes: Uint8Array.from({ length: 256 }, (_, index) => index),
  lines: 'a\tb\r\n\n  c\r',
  text: 'é\n'.repeat(20),
}

/** Each ends with its own status, so that one lost line is seen in all that come after it. */
const scripts = [
  'cat bytes lines missing - < lines; echo "= $?"\n'.repeat(6),
  'cat bytes missing 2>/dev/null; echo "= $?"',
  'grep -a é text missing 2>/dev/null; echo "= $?"',
  'x=$(cat text missing 2>/dev/null); echo "$x"',
  'cat text missing 2>errors | wc -c; cat errors',
  'echo text missing | xargs cat 2>/dev/null; echo "= $?"',
  'cat text >&2; cat bytes 1>&2;',
  'cat é 2>&1; cat text é 2>&1',
  'ls é 2>&1',
  'x=$(cat text é 2>&1); echo "$x"',
  'cat text é 3>&1 1>&2 2>&3',
  '{ cat bytes é; } 2>&1; (cat text) >&2',
  'exec 2>&1; cat text bytes é',
  'exec >&2; cat text bytes',
  'cat bytes text bytes > copy; cat bytes | cat | tail -c 3 > end; sha256sum copy end; od -c end',
]

it('[EX1] keeps every byte where standard output and errors go into one another', async () => {
  await using scratch = await createScratchDirectory()
  await using workspace = await open({
    files: {
      '/file.txt': '',
      ...Object.fromEntries(Object.entries(files).map(([name, content]) => [`/${name}`, content])),
    },
  })
  for (const [index, script] of scripts.entries()) {
    const cwd = join(scratch.path, String(index))
    mkdirSync(cwd)
    for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content)
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' }
    const real = spawnSync('bash', ['--norc', '-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const { stdout, stdoutBytes, stderr, exitCode } = await workspace.exec(script)
    expect({ script, stdout, stdoutBytes, stderr, exitCode }).toEqual({
      script,
      stdout: real.stdout.toString(),
      stdoutBytes: real.stdout.length,
      stderr: real.stderr.toString(),
      exitCode: real.status,
    })
  }
})

it('[EX1] refuses binary output of more than 1 MiB on standard error, and keeps it everywhere else', async () => {
  const large = new Uint8Array(1_100_000).map((_, index) => (index * 7) % 256)
  await using workspace = await open({ files: { '/large': large } })
  const toErrors = [
    '{ cat large >&2; } 2> copy',
    '{ for once in 1; do cat large; done >&2; } 2> copy',
    '{ exec >&2; cat large; } 2> copy',
    '{ exec 3>&2; cat large >&3; } 2> copy',
    '{ cat large > /dev/stderr; } 2> copy',
    '{ cat large >&"2"; } 2> copy',
    '{ bash -c "cat large" >&2; } 2> copy',
  ]
  for (const script of toErrors) {
    const { exitCode, stderr } = await workspace.exec(script)
    expect({ script, exitCode }).toEqual({ script, exitCode: 126 })
    expect(stderr).toContain('standard error takes 1 MiB of binary output at most; write it to a file')
  }
  for (const script of ['cat large &> copy', '{ cat large |& cat; } > copy', 'exec 3> copy; cat large >&3']) {
    expect({ script, exitCode: (await workspace.exec(script)).exitCode }).toEqual({ script, exitCode: 0 })
    expect((await workspace.read('/copy')).bytes).toEqual(large)
  }
})

it('carries any bytes in text', () => {
  const all = Buffer.from([
    ...files.bytes,
    0xc3,
    0xf0,
    0x9f,
    0x98,
    0x80,
    0xed,
    0xa0,
    0x80,
    ...Buffer.from('é😀\u{fffd}'),
    0xe2,
  ])
  expect(Buffer.from(encodeText(decodeText(all)))).toEqual(all)
})

const both = 'echo a; ls nothing; echo b'
const error = "ls: cannot access 'nothing': No such file or directory\n"

it.each([
  [`{ ${both}; } 2>&1`, `a\n${error}b\n`],
  [`(${both}) > log 2>&1; cat log`, `a\n${error}b\n`],
  [`{ ${both}; } &> log; cat log`, `a\n${error}b\n`],
  [`f() { ${both}; }; f |& cat; x=$(f 2>&1); echo "$x"`, `a\n${error}b\n`.repeat(2)],
  [`for i in 1; do ${both}; done 2>&1 | cat`, `a\n${error}b\n`],
  [`bash -c '${both}' 2>&1; eval '${both}' 2>&1`, `a\n${error}b\n`.repeat(2)],
  [`exec 3>&1; { ${both}; } 2>&3`, `a\n${error}b\n`],
  ['{ { echo a; ls nothing; } > f; echo b; } 2>&1; cat f', `${error}b\na\n`],
  ['{ x=$(echo s; ls nothing); echo "$x"; ls nothing | cat; } 2>&1', `${error}s\n${error}`],
  ['{ cat < <(echo a; ls nothing); } 2>&1 | sort', `a\n${error}`],
  ['{ echo b; exit 3; } 2>&1', 'b\n'],
  ['{ x=$(ls nothing) 2> /dev/null; y=$(ls nothing) > f; } 2>&1', error.repeat(2)],
  ['{ set -x; echo a; } 2>&1', '+ echo a\na\n'],
  ['cat text nothing text 2>&1', 'é\ncat: nothing: No such file or directory\né\n'],
  [
    'ls text nothing 2>&1; sed p text nothing 2>&1 | head -n 1',
    `${error}text\nsed: can't read nothing: No such file or directory\n`,
  ],
  ['echo 1 | xargs sh -c "echo a; ls nothing; echo b" 2>&1', `a\n${error}b\n`],
])('[EX1] %s keeps the order of both outputs', async (script, expected) => {
  await using workspace = await open({ files: { '/text': 'é\n' } })
  expect((await workspace.exec(script)).stdout).toBe(expected)
})
