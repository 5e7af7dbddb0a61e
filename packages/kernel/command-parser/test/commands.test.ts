import { parseCommands } from '@ws/command-parser'
import { processorTimeOf } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

const programs = (line: string) => parseCommands(line).map(({ program }) => program ?? '?')

describe('parseCommands', () => {
  it.each([
    ['ls; rm a && cat b || echo c & pwd', ['ls', 'rm', 'cat', 'echo', 'pwd']],
    ['a | b |& c', ['a', 'b', 'c']],
    ['(cd x; rm y); { z; }', ['cd', 'rm', 'z']],
    ['echo $(rm a) `rm b` "$(rm c)" <(rm d)', ['echo', 'rm', 'rm', 'rm', 'rm']],
    ['echo `ls \\`rm x\\``', ['echo', 'ls', 'rm']],
    ['x=$(rm a); y=(1 $(rm b))', ['rm', 'rm']],
    ['f() { rm "$1"; }; f x', ['rm', 'f']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['for f in $(l); do rm "$f"; done; while r; do s; done', ['l', 'rm', 'r', 's']],
    ['case $(a) in x) rm y;; *) z;; esac', ['a', 'rm', 'z']],
    ['cat <<E\n$(rm x)\nE', ['cat', 'rm']],
    ["cat <<'E'\n$(rm x)\nE", ['cat']],
    ['[[ $(rm a) == b ]]; ((i = $(rm c)))', ['rm', 'rm']],
    ['echo ${x:-$(rm a)} $(( $(rm b) + 1 ))', ['echo', 'rm', 'rm']],
    ['! rm a; time rm b; coproc rm c', ['rm', 'rm', 'rm']],
    ['echo rm; echo "rm x" # rm y', ['echo', 'echo']],
  ])('finds every command of a list, pipeline, substitution and function: %s', (line, expected) => {
    expect(programs(line).sort()).toEqual([...expected].sort())
  })

  it.each([
    ['env -i A=1 rm x', ['env', 'rm']],
    ['sudo -u root -E rm x', ['sudo', 'rm']],
    ['sudo env nice -n 5 nohup timeout -k 1 5 rm x', ['sudo', 'env', 'nice', 'nohup', 'timeout', 'rm']],
    ['find . -name x | xargs -0 -I{} rm {}', ['find', 'xargs', 'rm']],
    ['find . -exec rm {} \\; -execdir cat {} +', ['find', 'rm', 'cat']],
    ["sh -c 'ls; rm x'", ['sh', 'ls', 'rm']],
    ['bash -euo pipefail -c "rm x" name', ['bash', 'rm']],
    ['bash -c \'sh -c "rm x"\'', ['bash', 'sh', 'rm']],
    ['eval "rm x"; eval rm y', ['eval', 'rm', 'eval', 'rm']],
    ["trap 'rm x' EXIT", ['trap', 'rm']],
    ["alias ls='rm -rf'", ['alias', 'rm']],
    ['command rm x; builtin echo; exec rm y', ['command', 'rm', 'builtin', 'echo', 'exec', 'rm']],
    ['command -v rm', ['command']],
    ['busybox rm x; noglob rm y', ['busybox', 'rm', 'noglob', 'rm']],
    ["su -c 'rm x'", ['su', 'rm']],
    ['watch rm x; flock l -c "rm y"; flock l rm z', ['watch', 'rm', 'flock', 'rm', 'flock', 'rm']],
  ])('looks through wrappers: %s', (line, expected) => {
    expect(programs(line)).toEqual(expected)
  })

  it.each(['"r"m x', "r'm' x", 'r\\m x', '/bin/rm x', "$'\\x72m' x", '=rm x', '../../bin/rm x'])(
    'knows a program however it is written: %s',
    (line) => {
      expect(programs(line)).toEqual(['rm'])
    },
  )

  it.each([
    '$x a',
    '"$(echo rm)" a',
    '{rm,x}',
    '/bin/r? x',
    'eval "$x"',
    'sh -c "$x"',
    'env -S "rm x"',
    'sudo --what rm',
    'xargs $o rm',
  ])('says that a program is not known: %s', (line) => {
    expect(programs(line)).toContain('?')
  })

  it.each(['ls "a', "ls 'a", 'ls $(rm', 'if a; then b', 'ls )', 'cat <<E\nx', 'a &&', '`ls', "sh -c 'ls \"'"])(
    'gives up, rather than guess: %s',
    (line) => {
      expect(() => parseCommands(line)).toThrow()
    },
  )

  it('gives up for a shell with a syntax of its own, and for what is nested too deeply', () => {
    expect(() => parseCommands('rm x', { shell: '/usr/bin/fish' })).toThrow(/syntax of its own/)
    expect(() => parseCommands(`${'env '.repeat(50)}rm`)).toThrow(/too deeply/)
    expect(() => parseCommands(`${'$('.repeat(5_000)}rm${')'.repeat(5_000)}`)).toThrow()
    expect(() => parseCommands('<<a '.repeat(2000))).toThrow(/too many here-documents/)
  })

  it('[RU8] takes time in proportion to the line, for find with many actions too', () => {
    const line = (count: number): string => `find . ${'-exec rm {} \\; '.repeat(count)}`
    const parse = (): void => void expect(parseCommands(line(2400))).toHaveLength(2401)
    expect(processorTimeOf(parse)).toBeLessThan(120)
  })

  it('[RU8] reads no line that is too long, nor one with too many parts, in it or inside of it', () => {
    expect(parseCommands(`cat <<'EOF'\n${'a b c\n'.repeat(10_000)}EOF\n`)).toHaveLength(1)
    expect(() => parseCommands(`echo ${'a'.repeat(65_536)}`)).toThrow(/more than 65536 characters; write a script/)
    expect(parseCommands(`echo ${'a '.repeat(9_000)}`)).toHaveLength(1)
    expect(() => parseCommands(`echo ${'a '.repeat(10_001)}`)).toThrow(/more than 10000 commands and words/)
    expect(parseCommands(`eval '${'a;'.repeat(2000)}'`)).toHaveLength(2001)
    expect(() => parseCommands(`eval '${'a;'.repeat(4000)}'`)).toThrow(/more than 10000 commands and words/)
    // Each line counts, however many there are.
    expect(() => parseCommands(`sh -c '${'a;'.repeat(500)}';`.repeat(10))).toThrow(/more than 10000 commands and words/)
  })

  it('tells arguments, text and wrappers', () => {
    expect(parseCommands(`env A=1 git push --force "$branch" 'a b'`)[1]).toEqual({
      program: 'git',
      path: 'git',
      arguments: ['push', '--force', undefined, 'a b'],
      text: `env A=1 git push --force "$branch" 'a b'`,
      wrappers: ['env'],
    })
    expect(parseCommands('export A=/x B="$y"')[0]?.arguments).toEqual(['A=/x', undefined])
  })
})
