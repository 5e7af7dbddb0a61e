import { describe, expect, it } from 'vitest'

import { Matching, TooMuchWork } from '../src/worker/patterns/match.ts'
import { charactersOf } from '../src/worker/patterns/marks.ts'
import { parsePattern } from '../src/worker/patterns/parse.ts'
import { open, run } from './support.ts'

describe('a pattern', () => {
  it.each([
    ['case 12 in *[!0-9]*) echo no;; *) echo yes;; esac', 'yes\n'],
    ['p="*[!0-9]*"; f() { case $1 in $p) echo no;; *) echo yes;; esac; }; f 12; f 1a', 'yes\nno\n'],
    ['case 5 in [![:digit:]]) echo no;; [!]]) echo yes;; esac', 'yes\n'],
    [`case '[db]' in '['*']') echo s;; *) echo n;; esac`, 's\n'],
    [`case '- [ ] x' in '- [ ] '*) echo s;; esac; case 'a*b' in a'*'b) echo s;; esac`, 's\ns\n'],
    ['case "a\\\\b" in a\\\\b) echo s;; esac; [[ "a*" == "a*" ]] && echo t; [[ ab == "a*" ]] || echo u', 's\nt\nu\n'],
    [
      'v=1.2; [[ 1x2 =~ ^"$v"$ ]] || echo n; [[ 1.2 =~ ^"$v"$ ]] && echo y; [[ "a(b" =~ a"("b ]] && echo z',
      'n\ny\nz\n',
    ],
    ['[[ k=v1 =~ ^([a-z]+)=(v|v1)$ ]]; echo "${BASH_REMATCH[2]}"', 'v1\n'],
    ['s=a%20b#; echo "${s//%/Z}" "${s//#/x}" "${s/#/<}" "${s/%/>}"', 'aZ20b# a%20bx <a%20b# a%20b#>\n'],
    ['s=a%b p=%b; echo "${s/$p/x}" "${s/"$p"/x}"', 'a%x ax\n'],
    ['case B in [[:alpha:]) echo x;; *) echo y;; esac', 'y\n'],
    ['x=a/b/c.txt; echo ${x##*/} ${x%/*} ${x%%/*} ${x#*/}', 'c.txt a/b a b/c.txt\n'],
    ['[[ x.c == *.@(c|h) ]] && echo y; b="*"; [[ "a*" == @(x|"a$b") ]] && echo z', 'y\nz\n'],
    [`l=('a$1' b); r='\\'; echo "\${l[@]/\\$1/x}" "\${l[@]%b}"`, 'ax b a$1 \n'],
    ['f() { ((i == 1)) && break; echo in; }; for i in 1 2; do f; done 2> /dev/null', 'in\nin\n'],
    [
      'a=/ b=file c="*"; x=1; echo .a[] .b[0].c[] "s/[a]*/"$x"/"; echo "$a"$b.txt "$c" "$a"$b*; for d in $a*/; do echo "$d"; done',
      '.a[] .b[0].c[] s/[a]*/1/\n/file.txt * /file.txt\n/*/\n',
    ],
    ['cat <<E\n\\* \\$x\nE\ncat <<< {a,b}', '\\* $x\n{a,b}\n'],
  ])('[EX1] is that of bash: %s', async (command, expected) => {
    await using workspace = await open()
    expect(await run(workspace, command)).toBe(expected)
  })

  it.each([
    ['x=a; [[ $x =~ (a)\\1 ]]', '[[ … =~ … ]]'],
    ['[[ a =~ a{300} ]]', '[[ … =~ … ]]'],
    ['[[ ab =~ (a*|b)* ]]', '[[ … =~ … ]]'],
    ['x=y; [[ !$x ]]', '[[ !… ]]'],
    ['i=1; a=([i+1]=2)', 'a=([…]=…)'],
    ['a=([1 + 1]=2)', 'name=([…]=…)'],
    ['declare -i n=9007199254740993', 'declare -i'],
    ['declare -u l; l=(a b)', 'l='],
    ['q=1; echo "$q""a"', '"$x""y"'],
    ['r="&"; x=ab; echo "${x/a/$r}"', '${…/…/…}'],
    ['x=a; echo "${x/[!]b]/c}"', 'a pattern'],
    ['s="B*."; echo "${s//*"*"/y}"', 'a pattern'],
    [`[[ a == !(')'|b) ]]`, '@(…)'],
    ['echo [[=a=]]*', '`[=` in brackets'],
    ['echo a[ b', 'it is not closed before a blank'],
    ['x=1; echo $x{a,b}', '$x{…}'],
    ['IFS="*"; x=a; echo $x', 'IFS'],
    ['f() { local v={1..3}; }; f', '{…}'],
    ['x=; shopt -s globstar; echo **', 'shopt globstar'],
    ["x=$(printf 'a%.0s' {1..30000}); p='!(b)!(c)'; [[ $x == $p ]]", 'it takes too many steps'],
  ])('[EX1] is refused in words: %s', async (command, words) => {
    await using workspace = await open()
    const { exitCode, stderr } = await workspace.exec(command)
    expect(exitCode).toBe(126)
    expect(stderr).toContain(words)
  })

  it('[EX1] takes time that grows with its text', () => {
    const nested = parsePattern(charactersOf('+(+(a|aa)|+(a))b'), { extended: true, counted: false })
    expect(new Matching(nested, 'a'.repeat(2_000)).whole()).toBe(false)
    const stars = parsePattern(charactersOf('*a*a*a*a*a*a*a*b'), { extended: false, counted: false })
    expect(new Matching(stars, 'a'.repeat(100_000)).whole()).toBe(false)
    const path = parsePattern(charactersOf('*/'), { extended: false, counted: false })
    expect(new Matching(path, `${'x'.repeat(2_000_000)}/y`).prefix(true)).toBe(2_000_001)
    const not = parsePattern(charactersOf('!(a)!(b)'), { extended: true, counted: false })
    expect(() => new Matching(not, 'a'.repeat(30_000)).whole()).toThrow(TooMuchWork)
  })
})

describe('arithmetic and text', () => {
  it.each([
    ['e=; s=abc; echo "${s:$(($e)):2}" $((1 + $(( )))) $((2*$((3))))', 'ab 1 6\n'],
    ["echo $(( $(printf '1 + 2') * 3 ))", '7\n'],
    ["x='1+2'; set -- 1+1; echo $((${x}*3)) $(($1*5)) $((x*3))", '7 6 9\n'],
    ['f() { if [ $1 -le 1 ]; then echo 1; else echo $(( $1 * $(f $(( $1 - 1 ))) )); fi; }; f 6', '720\n'],
    ['f() { local a=${1:-x} b=${2:-"y z"}; echo "$a|$b"; }; f; f 1', 'x|y z\n1|y z\n'],
    ['echo $((((u) <= (0)))); (((!07) % 5 < 3)); echo $?; ( (echo in) )', '1\n0\nin\n'],
    ['x=-2; echo $((3-$x)) $((- -3)); x=010; echo $((x)) $((${x}))', '5 3\n8 8\n'],
    ['x=short; echo "[${x: -9}]" "${x: -2}"; let "i = 3" "i /3"; echo $? $i', '[] rt\n0 3\n'],
    ['(echo $((1/0)); echo in) 2> /dev/null; echo after $?', 'after 1\n'],
    ['f() { echo $((08)); echo in; }; f 2> /dev/null; echo same\necho next', 'next\n'],
    ['{ [[ 1 -lt $((1/0)) ]] || echo or; } 2> /dev/null; echo in\n[[ 08 -eq 8 ]] 2> /dev/null; echo $?', '1\n'],
    [
      '{ (( $((1/0)) )); echo in; } 2> /dev/null\nfor ((i=0; i<1; i+=1/0)); do echo x; done 2> /dev/null; echo $?',
      'x\n1\n',
    ],
    ['a=(1 2); (echo ${a[1/0]}; echo in) 2> /dev/null; echo $?; s=ab; echo ${s:1/0}\necho next', '1\nnext\n'],
    ['cat <<< $((1/0)) 2> /dev/null; echo $?; read x <<< $((1/0)); echo in\necho next', '1\nnext\n'],
    ['x=0; echo $((x++ + $((x)))) $((0 && $((x++)))) $x $((5 $((0-3)) ))', '0 0 2 2\n'],
    [
      'a=(1 2 3); i=1; echo ${a[$((i+1))]} "${a[`echo 0`]}" ${a[${#a[@]}-1]}; a[$((i-1))]+=z; echo ${a[*]}',
      '3 1 3\n1z 2 3\n',
    ],
    ['m=5; m[1]=x; echo $m ${#m[@]} ${m[0]-no}; ((m[0]++)); unset "m[1]"; echo $m ${#m[@]}', '5 2 5\n6 1\n'],
    [
      'm=(1 2); f() { local -A m=([q]=7); local -i n=2+3; m[r]=$n; echo ${#m[@]} ${m[r]}; }; f; n=1+1; echo ${m[1]} $n',
      '2 5\n2 1+1\n',
    ],
    [
      "l=(a '' b) IFS=' :'; for x in ${l[@]}; do echo $x; done; y=größe; echo ${y^^}; z=$(printf 'a\\0b') 2> /dev/null; echo ${#z}",
      'a\nb\nGRÖßE\n2\n',
    ],
    ['[ - - ] 2> /dev/null; echo $?; [ a b c ] 2> /dev/null; echo $?; [ x -eq 1 ] 2> /dev/null; echo $?', '2\n2\n2\n'],
    [`printf '%5.1f|%-4d|%x|%b|%q' 2.25001 7 255 'a\\tb' "it's"`, "  2.3|7   |ff|a\tb|it\\'s"],
    [`printf '%d %d' "'a" 0x1f; printf -v y '%03d' 7; echo " $y"`, '97 31 007\n'],
  ])('[EX1] are those of bash: %s', async (command, expected) => {
    await using workspace = await open()
    expect(await run(workspace, command)).toBe(expected)
  })

  it.each([
    [`echo a=1 | awk '{ if (match($0, /([a-z])=/, m)) print m[1] }'`, 'match with 3 arguments'],
    [`awk 'BEGIN { print substr("abc", 1, 2, 3) }'`, 'substr with 4 arguments'],
    [`awk 'function f(a) { return a } BEGIN { print f(1, 2) }'`, 'f with 2 arguments'],
  ])('[EX1] awk refuses surplus arguments: %s', async (command, words) => {
    await using workspace = await open()
    const { exitCode, stderr } = await workspace.exec(command)
    expect([exitCode, stderr]).toEqual([126, expect.stringContaining(words)])
  })
})
