import { describe, expect, it } from 'vitest'

import { open, run } from './support.ts'

const files = {
  '/a.txt': 'one\ntwo\n',
  '/b.txt': 'b\n',
  '/d/keep': 'k\n',
  '/e/x': 'x\n',
}

describe('the shell', () => {
  it.each([
    ['i=1; while ((i<=3)); do echo $i; ((i++)); done', '1\n2\n3\n'],
    ['((3>=1)) && echo yes', 'yes\n'],
    ['i=9; ((i -= 3)); echo $? $i; ((i / 2)) && echo half; ((i - 6)) || echo zero', '0 6\nhalf\nzero\n'],
    ['n=3; while ((n -= 1)); do echo $n; done; if (( n - 0 )); then echo 1; else echo 0; fi', '2\n1\n0\n'],
    ['set -- 5 2; (( $1 / $2 > 1 )) && echo "more than one"; ( (echo inner) )', 'more than one\ninner\n'],
    ['f=a.txt; echo $(( $(wc -l < $f) + 1 ))', '3\n'],
    ['cd d; (( n = $(ls | wc -l) )); echo $n', '1\n'],
    ['f() { echo $(($1 * $(echo $1))); }; f 3', '9\n'],
    ['f=1; for i in {1..10}; do f=$((f*i)); done; echo $f', '3628800\n'],
    ["x='2+3'; echo $(($x*2)) $((x*2))", '8 10\n'],
    ['n=3; echo $((1<<$n)) $((0xff & 15)) $((5^1)) $((~0))', '8 15 4 -1\n'],
    ['h=08; echo $((10#$h*60))', '480\n'],
    ['set -- \'a b\' c; for x; do echo "[$x]"; done', '[a b]\n[c]\n'],
    ['f() { local -a l=("$@"); echo ${#l[@]}; }; f 1 2 3', '3\n'],
    ['declare -a l=($(echo 1 2) *.txt); echo ${#l[@]}', '5\n'],
    ['declare -A m=([a]="x y"); echo "${m[a]}"', 'x y\n'],
    ['x=1,2; IFS=, a=($x); echo ${#a[@]}', '2\n'],
    ['a=(b a); IFS=$\'\\n\' s=($(sort <<< "${a[*]}")); echo "${#s[@]} ${s[0]}"', '2 a\n'],
    ['a=(b a); IFS=,; x="${a[*]}"; echo "$x"', 'b,a\n'],
    ['declare -A c; w=x; c[$w]=5; echo $((${c[$w]:-0}+${c[y]:-2}))', '7\n'],
    ['x=3.7; echo $((${x%.*}*2)); ((y = ${x%.*})); echo $y', '6\n3\n'],
    ['mkdir n && cd $_ && pwd', '/n\n'],
    ['x=d; cd $x && ls', 'keep\n'],
    ["x='d e'; cd $x 2> /dev/null || echo failed; pwd", 'failed\n/\n'],
    ['cd d e 2> /dev/null || pwd', '/\n'],
    ['wc < a.txt; wc -lc - < a.txt; cat a.txt | wc -lc', '2 2 8\n2 8 -\n      2       8\n'],
    ['echo $((2**62))', '4611686018427387904\n'],
    ['echo $((9223372036854775807)) $((9223372036854775807 + 1))', '9223372036854775807 -9223372036854775808\n'],
    ['x=99999999999; echo $(($x*$x))', '1864711849423024129\n'],
    ['echo $((1<<60))', '1152921504606846976\n'],
    ['echo $((0xFFFFFFFFFF & 1))', '1\n'],
    ['a=0 b=1; for i in {1..90}; do c=$((a+b)); a=$b; b=$c; done; echo $a', '2880067194370816120\n'],
    ['i=0; echo $((i++ + $(echo 2))) $i', '2 1\n'],
    ['i=0; echo $((i++ + ${i%x})) $i', '0 1\n'],
  ])('[EX1] does as bash does: %s', async (command, expected) => {
    await using workspace = await open({ files })
    expect(await run(workspace, command)).toBe(expected)
  })

  it.each([
    'x=abc; echo ${x:$(echo 1)}',
    'a=(one two); echo ${a[@]^}',
    'x="it\'s"; echo ${x@Q}',
    'echo {a\\,b,c}',
    "echo {'a,b',c}",
    'echo $BASH_SUBSHELL $SHLVL',
    'ls; echo $_',
    'help cd',
    'set -o',
    'shopt nullglob',
    'mapfile -d, a <<< x,y',
    'declare -A m; k=z; m=([$k]=1)',
    "sh -c '[[ a == a ]] && echo yes'",
    "sh -c 'x=abc; echo ${x:1}'",
    'sh -c \'echo "a\\tb"\'',
    "echo 'echo {1..3}' | sh",
    'find . -name a.txt -exec sh -c \'echo "${1/a/b}"\' _ {} \\;',
  ])('[EX1] is refused where it would do something else: %s', async (command) => {
    await using workspace = await open({ files })
    const { exitCode, stderr } = await workspace.exec(command)
    expect(exitCode).toBe(126)
    expect(stderr).toContain('not supported by the virtual executor')
  })

  it('[EX1] sh runs what dash runs', async () => {
    await using workspace = await open({ files })
    const script = 'for i in 1 2; do [ $i = 2 ] && echo ${1%.txt} $((i+1)); done; printf "%s\\n" "$(cat b.txt)"'
    expect(await run(workspace, `sh -c '${script}' _ a.txt`)).toBe('a 3\nb\n')
  })
})

describe('files', () => {
  it.each([
    ['ln -s ../a.txt d/; cat d/a.txt', 'one\ntwo\n'],
    ['ln -s d l; ln -sf b.txt l; ls d; readlink l', 'b.txt\nkeep\nd\n'],
    ['ln -s d l; ln -sfn e l; readlink l', 'e\n'],
    ['ln -sf a.txt a.txt 2> /dev/null || cat a.txt', 'one\ntwo\n'],
    ['mv a.txt nope/ 2> /dev/null || cat a.txt', 'one\ntwo\n'],
    ['mv d new/; ls new', 'keep\n'],
    ['basename /; basename a.txt a.txt; basename d/a.txt .txt', '/\na.txt\na\n'],
    ['dirname / a//b ./c d/', '/\na\n.\n.\n'],
    [
      "cp b.txt 'x\\y'; md5sum 'x\\y' b.txt",
      '\\3b5d5c3712955042212316173ccf37be  x\\\\y\n3b5d5c3712955042212316173ccf37be  b.txt\n',
    ],
    ['tar cf t.tar d/ && tar tf t.tar', 'd/\nd/keep\n'],
    ["touch $'x\\ny'; find . -regex '.*/x.*'; rm $'x\\ny'", './e/x\n'],
  ])('[EX1] %s', async (command, expected) => {
    await using workspace = await open({ files })
    expect(await run(workspace, command)).toBe(expected)
  })

  it.each([
    'cp -r d d/sub',
    'ln -s nope l; cp a.txt l',
    'cp /dev/stdin x < a.txt',
    'ln -s d l; rm -r l/',
    'ln -s a.txt l; gzip l',
    'ln -s nope d/l; tar cf x.tar d',
  ])('[EX1] is refused: %s', async (command) => {
    await using workspace = await open({ files })
    const { exitCode, stderr } = await workspace.exec(command)
    expect(exitCode).toBe(126)
    expect(stderr).toContain('not supported by the virtual executor')
    expect(await workspace.readText('/d/keep')).toBe('k\n')
  })
})

describe('text', () => {
  it.each([
    ["printf 'a,,c\\nd,e\\n' | column -t -s,", 'a     c\nd  e  \n'],
    ["printf 'YQ==Yg==' | base64 -d", 'ab'],
    ['awk \'{f="o"; print > f; close(f)}\' a.txt; cat o', 'two\n'],
    ['awk \'BEGIN { exit } END { print "end" }\'', 'end\n'],
    ["sed -n '1,~2p' a.txt; sed -n '2,~2p' a.txt", 'one\ntwo\ntwo\n'],
    ['date -u -d 2024-02-29 +%F', '2024-02-29\n'],
    ["seq -w 8 10; printf '%x\\n' 255", '08\n09\n10\nff\n'],
    ["printf '%d %x' 9007199254740993 -1", '9007199254740993 ffffffffffffffff'],
  ])('[EX1] %s', async (command, expected) => {
    await using workspace = await open({ files })
    expect(await run(workspace, command)).toBe(expected)
  })

  it.each([
    'cut -c1 -c2 a.txt',
    'echo !!!! | base64 -d',
    'base64 a.txt b.txt',
    'date -d 2023-02-29',
    'seq 1 2 3 4',
    'seq 1.0 3',
    "grep '[:alpha:]' a.txt",
    "awk -Ft '{print $1}' a.txt",
    'awk \'BEGIN { print substr("hello", 1.5, 2) }\'',
  ])('[EX1] fails: %s', async (command) => {
    await using workspace = await open({ files })
    const { exitCode, stderr } = await workspace.exec(command)
    expect(exitCode).not.toBe(0)
    expect(stderr).not.toBe('')
  })
})
