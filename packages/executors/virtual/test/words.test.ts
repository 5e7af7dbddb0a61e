import { rules } from '@ws/core'
import { expect, it } from 'vitest'

import type { DirentEntry } from '../src/files/contract.ts'
import { fieldsOf } from '../src/worker/words/fields.ts'
import { namesOf } from '../src/worker/words/names.ts'
import { open, run } from './support.ts'

const files = {
  '/w/a': '',
  '/w/b.x': '',
  '/w/.h': '',
  '/w/d/a': '',
  '/w/d/b.x': '',
  '/w/d/.e/c': '',
  '/w/sp ace/t.x': '',
  '/w/[z]': '',
  '/w/2.txt': '',
  '/w/new\nline': '',
}

it.each([
  [`printf '<%s>' 'a b'*/x`, '<a b*/x>'],
  [`d='sp ace'; printf '<%s>' "$d"/*.x "$d"/*.y "$d"*/`, '<sp ace/t.x><sp ace/*.y><sp ace/>'],
  [`p='*/'; printf '<%s>' $p; p='.*'; printf '<%s>' $p/? .*`, '<d/><sp ace/><.*/?><.h>'],
  [`q=.; printf '<%s>' "$q"*/* "$q"*; p='['; printf '<%s>' $p* [[]*`, '<.*/*><.h><[z]><[z]>'],
  [
    `printf '<%s>' ./$empty/b* \${q}d/* .//*`,
    '<.//b.x><d/a><d/b.x><.//2.txt><.//[z]><.//a><.//b.x><.//d><.//new\nline><.//sp ace>',
  ],
  [`q=2; printf '<%s>' \${q}.txt/"" \${q}*/""; p='\\*'; printf '<%s>' x*/"$p" $p`, '<2.txt/><2*/><x*/\\*><\\*>'],
  [`printf '<%s>' \${empty}"" $empty "" '*'{a,b} "a b*" "x//*"`, '<><><*a><*b><a b*><x//*>'],
  [`x=ab; printf '<%s>' "\${x%b}"* "\${x/a/*}"* \${x/ab/d*}`, '<a><*b*><d>'],
  [
    `printf '<%s>' */.. */. */.e */.e/* d/../b*; shopt -s dotglob; printf '<%s>' d/*/*`,
    '<d/..><sp ace/..><d/.><sp ace/.><d/.e><d/.e/c><d/../b.x><d/.e/c>',
  ],
  [
    `printf '<%s>' ["a"2]* [[:digit:]]* *[!x] [b-d]* *"]" new*`,
    '<2.txt><a><2.txt><2.txt><[z]><a><d><new\nline><sp ace><b.x><d><[z]><new\nline>',
  ],
  [
    `GLOBIGNORE='*.x:d*'; printf '<%s>' * d/*; unset GLOBIGNORE; printf '<%s>' d*`,
    '<.h><2.txt><[z]><a><new\nline><sp ace><d/*><d>',
  ],
  [`shopt -s nullglob; printf '<%s>' z* a z*/"x"; set -f; printf '<%s>' *`, '<a><*>'],
  [
    `set -- 'a b' c; printf '<%s>' x"$@"y \${1+"$@"} \${9-"$@"} $* "\${@:2}z"; set --; printf '<%s>' "$@" "$9$@"`,
    '<xa b><cy><a b><c><a b><c><a><b><c><cz><>',
  ],
  [`l=('a b' '' c); printf '<%s>' \${l[@]#a} "x\${l[@]:1}" "\${l[@]+"\${l[@]}"}"`, '<b><c><x><c><a b><><c>'],
  [
    `i=0; printf '<%s>' "$((i++))" $i "$i" $((i++)) "\${z:=5}" $z "$(echo > new)" new*; rm new; a=("$((i++))" $i); printf '<%s>' "\${a[@]}"`,
    '<0><1><1><1><5><5><><new><new\nline><2><3>',
  ],
  [
    `HOME=/h; l=(1 2 3); IFS=,; printf '<%s>' "a\${l[*]:1}b" \${v:=~/q} "\${w:=~}" \${x-a:~} $v; IFS=; printf '<%s>' "a\${l[*]:1}b"`,
    '<a2,3b></h/q><~><a:~></h/q><a23b>',
  ],
  [
    `declare -A m; for w in the quick brown fox jumps over the lazy dog é; do ((m[$w]++)); done; echo "\${!m[@]}" \${m[@]}; IFS=,; echo "\${!m[*]}"; [[ "x\${m[*]}" == x1,3* ]] || echo no`,
    'dog the over quick brown fox lazy jumps é 1 2 1 1 1 1 1 1 1\ndog,the,over,quick,brown,fox,lazy,jumps,é\nno\n',
  ],
  [
    `IFS=,; l=(c d e); [[ "\${l[*]}" =~ ^c,d ]] && echo 1; case \${l[*]:1} in d,e) echo 2;; esac; x=\${l[@]:1}; echo "$x"`,
    '1\n2\nd e\n',
  ],
  [
    `f() { local -n r=$1 s=$2; r+=(q); r[0]=z; for i in "\${!r[@]}"; do printf %s "$i\${r[i]} "; done; s=("\${r[@]:1}"); [[ -v r[1] ]] && printf -v r[1] n; unset 'r[0]'; }; l=(a b); f l t; echo "\${l[@]} - \${t[@]}"`,
    '0z 1b 2q n q - b q\n',
  ],
  [`IFS=' :'; x=' a : b::c : '; printf '<%s>' $x; IFS=; printf '<%s>' $x`, '<a><b><><c>< a : b::c : >'],
  [`printf '<%s>' \${u:-"a b" d*} \${u:=d/*} "$u"; c='printf <%s>'; $c "x y"`, '<a b><d><d/a><d/b.x><d/*><x y>'],
  [
    `echo hi > d/b*; cat d/b.x; echo no > {a,b}; echo $?; for f in d/*; do printf '<%s>' "$f"; done`,
    'hi\n1\n<d/a><d/b.x>',
  ],
  [
    `IFS=: read p <<< '\\::'; IFS=: read -r q r <<< 'a:b:c:'; read s t <<< ' x\\ y  z '; printf '<%s>' "$p" "$q" "$r" "$s" "$t"`,
    '<:><a><b:c:><x y><z>',
  ],
  [`v=d['*']x w="$*"; IFS=,; l=(p q); u="\${l[*]}"; printf '<%s>' "$v" "$u"; set -u; echo \${x-a*}`, '<d[*]x><p,q>a\n'],
])('[EX1] words become fields and names as in bash: %s', async (command, expected) => {
  await using workspace = await open({ files })
  expect(await run(workspace, `cd w; { ${command}; } 2> /dev/null`)).toBe(expected)
})

it('[EX1] names show nothing below a denied directory', async () => {
  await using workspace = await open({ files, rules: [rules.deny('/w/d')] })
  expect(await run(workspace, `cd w; printf '<%s>' d/* */b.x d/.e/* d/a* */*.x`)).toBe(
    '<d/*><*/b.x><d/.e/*><d/a*><sp ace/t.x>',
  )
})

it('[EX1] each directory is listed once for a word, and its entries are counted', async () => {
  const listed: string[] = []
  let counted = 0
  const entry = (name: string, isDirectory: boolean) => ({
    name,
    isDirectory,
    isFile: !isDirectory,
    isSymbolicLink: false,
  })
  const place = {
    files: {
      readdirWithFileTypes: (path: string): Promise<DirentEntry[]> => {
        listed.push(path)
        return Promise.resolve(
          path === '/' ? [entry('d', true), entry('e', true), entry('f', false)] : [entry('x', false)],
        )
      },
      look: () => Promise.reject(new Error('nothing to look at')),
      resolvePath: (base: string, path: string) => (path === '.' ? base : `/${path.replace(/\/$/, '')}`),
    },
    cwd: '/',
    dots: false,
    count: (entries: number) => void (counted += entries),
  }
  const [field = []] = fieldsOf([{ text: '*/*', quoted: false }], ' ', false)
  expect(await namesOf(field, place)).toEqual(['d/x', 'e/x'])
  expect([listed, counted]).toEqual([['/', '/d', '/e'], 5])
})
