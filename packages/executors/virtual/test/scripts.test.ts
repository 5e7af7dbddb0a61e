import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { describe, expect, it } from 'vitest'

import { createVirtualExecutor } from '../src/index.ts'
import { open, run } from './support.ts'

const files = { '/a.txt': 'one\ntwo\n', '/d/x': 'x\n', '/d/e/y': 'y\n' }

/** Runs scripts that each end with a code of their own: all in one workspace, one after another. */
async function check(scripts: readonly (readonly [string, string, number?])[]): Promise<void> {
  await using workspace = await open({ files })
  for (const [script, stdout, exitCode = 0] of scripts) {
    const result = await workspace.exec(script)
    expect({ script, stdout: result.stdout, exitCode: result.exitCode, stderr: result.stderr }).toMatchObject({
      script,
      stdout,
      exitCode,
    })
  }
}

describe('scripts', () => {
  it('[EX1] `set -e` leaves alone what is tested', () =>
    check([
      ['set -e; f() { false; echo in; }; f || echo or; f && echo and; if f; then echo if; fi', 'in\nin\nand\nin\nif\n'],
      [
        'set -e; { false; echo in; } || echo or; ( false; echo sub ) || echo or; ! { false; echo not; }; echo end',
        'in\nsub\nnot\nend\n',
      ],
      ["set -e; eval 'false; echo in' || echo or; echo 'false; echo file' > s; . ./s || echo or", 'in\nfile\n'],
      [
        'set -e; { false && true; }; for i in 1; do false && true; done; case x in x) false && true;; esac; echo end',
        'end\n',
      ],
      ['set -e; while read -r x; do [ "$x" = zz ] && echo found; done < a.txt; echo end', 'end\n'],
      ['set -e; for i in 1 2; do [ $i = 3 ] && echo x; break; done; echo end', 'end\n'],
      ['set -e; x=$(false; echo hi); echo "$x"; echo $(false); echo end', 'hi\n\nend\n'],
    ]))

  it('[EX1] `set -e` ends the script at any other failure', () =>
    check([
      ['set -e; f() { [ 1 = 2 ] && echo x; }; f; echo never', '', 1],
      ['set -e; ( false && true ); echo never', '', 1],
      ['set -e; true | false; echo never', '', 1],
      ['set -e; y=$(exit 3); echo never', '', 3],
      ['set -e; true && false; echo never', '', 1],
      ['set -e; ((0)); echo never', '', 1],
      ['set -e; { echo a; } > no/such; echo never', '', 1],
      ['set -eo pipefail; false | true; echo never', '', 1],
    ]))

  it('[EX1] `set -u` knows defaults, in quotes too', () =>
    check([
      [
        'set -euo pipefail; echo "${1:-world}" "${x-}" "${x:+set}" "${y:=v}" "$y"; a=(); echo "${#a[@]}" "${a[0]:-z}"; echo $nope; echo never',
        'world   v v\n0 z\n',
        127,
      ],
    ]))

  it('[EX1] statuses are those of bash', () =>
    check([
      [
        'false; x=1; echo $?; x=$(false); echo $?; x=$?; echo $x; false; x=$?; echo $x; x=$(true) y=$(exit 4); echo $?',
        '0\n1\n0\n1\n4\n',
      ],
      ['for i in 1 2; do false; break; done; echo $?; while true; do false; break; done; echo $?', '0\n0\n'],
      ['i=0; while [ $i -lt 2 ]; do i=$((i+1)); false; continue; done; echo $?; i=7; ((i /= 2)); echo $i', '0\n3\n'],
      ['cd - 2> /dev/null; echo $?; cd d; cd -; i=7; ((i /= 0)) 2> /dev/null; echo $i', '1\n/\n7\n'],
    ]))

  it('[EX1] parts of a pipeline, substitutions and inner shells keep what they change to themselves', () =>
    check([
      ['cd d | cat; pwd; set -u | true; echo "$nope ok"; f() { echo 1; }; f() { echo 2; } | cat; f', '/\n ok\n1\n'],
      [
        "x=$(shopt -s nullglob; set -u); echo zz* $nope; bash -c 'export Z=1; readonly R=2; shopt -s nullglob'; R=3; Z=2; echo $R zz*; env | grep -c ^Z=",
        'zz*\n3 zz*\n0\n',
        1,
      ],
      [
        "export Q=1; echo x | xargs -I{} sh -c 'echo $Q'; bash -c 'bash -c \"echo \\$Q\"'; find a.txt -exec printenv Q \\;",
        '1\n1\n1\n',
      ],
    ]))

  it('[EX1] `trap … EXIT` runs at the end, whatever ends the script', () =>
    check([
      ["trap 'echo bye $?' EXIT; echo hi; exit 3", 'hi\nbye 3\n', 3],
      ["trap 'echo bye $?' EXIT; echo hi; false", 'hi\nbye 1\n', 1],
      ['set -e; trap \'rc=$?; echo "bye $rc"; exit 7\' EXIT; false; echo never', 'bye 1\n', 7],
      ['cleanup() { echo "clean $1"; }; trap \'cleanup é\' EXIT INT TERM; echo ö', 'ö\nclean é\n'],
      ["f() { trap 'echo bye' EXIT; exit 2; }; f; echo never", 'bye\n', 2],
      ["trap 'echo a' EXIT; trap - EXIT; echo b", 'b\n'],
      ["trap 'echo bye' EXIT; python3 x; echo never", 'bye\n', 127],
    ]))

  it('[EX1] `command &` has ended before the next command, and `wait` knows its status', () =>
    check([
      [
        '(exit 3) & wait $!; echo $?; { echo in; x=5; } & wait; echo "[$x]"; false & p=$!; true & wait $p; echo $?',
        '3\nin\n[]\n1\n',
      ],
      [
        'set -e; false & echo on; for i in 1 2; do (echo "job $i" > "o$i") & done; wait; cat o1 o2',
        'on\njob 1\njob 2\n',
      ],
    ]))

  it('[EX1] scripts in files run once they may be executed', () =>
    check([
      [
        "printf '#!/bin/bash\\necho \"$# $1 $0 [$x] [$y]\"\\nexit 4\\n' > s.sh; ./s.sh 2> /dev/null; echo $?; chmod +x s.sh; x=1; export y=2; ./s.sh 'a b' c; echo $?",
        '126\n2 a b ./s.sh [] [2]\n4\n',
      ],
      [
        "printf '#!/usr/bin/env python3\\n' > p; chmod 755 p; ./p || echo $?; printf 'sleep 9 & kill $!' > k; bash k; echo never",
        '127\n',
        126,
      ],
      [
        'printf \'echo "${BASH_SOURCE[0]}" "$0"; f() { echo "${FUNCNAME[0]} ${BASH_SOURCE[0]}"; }; f\\n\' > s; bash ./s',
        './s ./s\nf ./s\n',
      ],
    ]))

  it('[EX1] a process in a word keeps NUL, and a function may have the name of a program', () =>
    check([
      [
        'while IFS= read -r -d "" f; do echo "<$f>"; done < <(find d -type f -print0); mapfile -d "" -t l < <(printf "a\\0b\\0"); echo ${#l[@]}',
        '<d/e/y>\n<d/x>\n2\n',
      ],
      [
        'join() { local IFS=$1; shift; echo "$*"; }; join , a b; cat() { command cat "$@" | tr a-z A-Z; }; cat d/x',
        'a,b\nX\n',
      ],
    ]))

  it('[EX1] the program may be several words of a variable', () =>
    check([
      [
        'run() { "$@"; }; f() { echo "f $1"; }; run f "a b"; c="echo x"; $c y; a=(printf "%s|" "p q"); "${a[@]}" r; $nothing echo z; echo d/{a,b}',
        'f a b\nx y\np q|r|z\nd/a d/b\n',
      ],
    ]))

  it('[EX1] `bash` takes its options', () =>
    check([
      [
        "bash -lc 'echo l'; bash -ec 'false; echo never'; echo $?; bash -euo pipefail -c 'echo \"${1:-none}\" $0' name arg; echo 'echo s $1' | bash -s q; bash -n a.txt; sh -ec 'false; echo never'; echo $?",
        'l\n1\narg name\ns q\n1\n',
      ],
      [
        'env A=b printenv A; env -i X=1 bash -c \'echo "[$X][$HOME]"\'; A=1 env -u A printenv A; echo $?',
        'b\n[1][]\n1\n',
      ],
      [
        "timeout 0.2 sleep 5; echo $?; timeout 9 bash -c 'exit 3'; echo $?; timeout 0.5 bash -c 'echo a; while :; do :; done'; echo $?",
        '124\n3\na\n124\n',
      ],
    ]))

  it('[EX1] temporary files are made below /tmp, and the workspace stays', async () => {
    await using workspace = await open({ files })
    const script =
      'tmp=$(mktemp -d); trap \'rm -rf "$tmp"\' EXIT; cp a.txt "$tmp/"; rm -rf "$tmp"/*; ls -A "$tmp"; f=$(mktemp); stat -c %a "$f" "$tmp"; echo "$tmp"'
    expect(await run(workspace, script)).toMatch(/^600\n700\n\/tmp\/tmp\.\w{10}\n$/)
    expect(await run(workspace, 'ls -A /tmp | grep -c tmp.; cat a.txt')).toBe('1\none\ntwo\n')
    expect(
      await run(
        workspace,
        'mktemp -u x.XXXX | wc -c; mktemp -p d --suffix=.log | grep -c "^d/tmp\\..*log$"; mktemp -q no/XXXX || mktemp -d XX 2>&1 || true',
      ),
    ).toBe("7\n1\nmktemp: too few X's in template 'XX'\n")
  })

  it('[EX1] neither `find` nor `cp` loses a file by what it overlooks', () =>
    check([
      ['mkdir m; touch m/f; find . -name m -prune -o -name f -delete 2> /dev/null; echo $?; ls m', '1\nf\n'],
      ['mkdir p q r; echo 1 > p/f; echo 2 > q/f; cp p/f q/f r 2> /dev/null; echo $?; cat r/f', '1\n1\n'],
      ['find p q -name f -exec sh -c \'cp "$@" /tmp\' _ {} +; cat /tmp/f', '1\n'],
    ]))

  it("[EX1] tools answer as GNU's do", () =>
    check([
      [
        'echo x-y > a-b.txt; grep -c x-y a-b.txt; grep -F x-y a-b.txt; find . -name "a-b*" -path "./a-*"; grep -E "^[a-z-]+$" a-b.txt; rm a-b.txt',
        '1\nx-y\n./a-b.txt\nx-y\n',
      ],
      ['grep -rn two a.txt; wc --bytes a.txt; od -c nope 2> /dev/null; echo $?', '2:two\n8 a.txt\n1\n'],
      [
        'chmod u+r-wx,g+w a.txt; stat -c %a a.txt; chmod 644 a.txt; chmod +w,o= a.txt; stat -c %a a.txt; chmod -R u=rwX,go= d; stat -c %a d d/x; chmod -R 755 d',
        '464\n640\n700\n600\n',
      ],
      ['find d -type f -exec chmod u+r-wx,g+w {} +; stat -c %a d/x; chmod -R 755 d', '475\n'],
      [
        'cp a.txt file.txt nope; cp a.txt file.txt a.txt; echo $?; ls nope; cp -r d e; cp -r d e; find e -type f',
        '1\ne/d/e/y\ne/d/x\ne/e/y\ne/x\n',
      ],
      [
        'cp -a d copy; stat -c %Y d/x > 1; stat -c %Y copy/x | cmp - 1 2> /dev/null || [ copy/x -nt d/x ] || [ d/x -nt copy/x ] || echo same',
        'same\n',
      ],
    ]))

  it('[EX1] `ls -l` of a directory shows what is not known as ?', async () => {
    await using workspace = await open({ files })
    expect(await run(workspace, "ls -la / | sed -E 's/[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{5}/TIME/'")).toBe(
      'total ?\ndrwxrwxrwx ? user user ? TIME .\ndrwxrwxrwx ? user user ? TIME ..\n-rw-r--r-- 1 user user 8 TIME a.txt\ndrwxr-xr-x ? user user ? TIME d\n-rw-r--r-- 1 user user 7 TIME file.txt\n',
    )
    expect(await run(workspace, 'ls -ld d; ls -l | tail -n +2 | wc -l')).toMatch(
      /^drwxr-xr-x \? user user \? .* d\n3\n$/,
    )
  })
})

describe('threads', () => {
  it('outlive the last workspace of an executor, and serve the next one', async () => {
    const executor = createVirtualExecutor({ limits: { maxMemory: 300 * 1024 * 1024 } })
    const times: number[] = []
    for (let round = 0; round < 2; round++) {
      await using workspace = await createWorkspace({
        mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
        executors: [round === 0 ? executor : createVirtualExecutor({ limits: { maxMemory: 300 * 1024 * 1024 } })],
      })
      const start = process.cpuUsage()
      await run(workspace, 'true')
      const { user, system } = process.cpuUsage(start)
      times.push(user + system)
    }
    // Processor time, not the clock's: starting a thread and loading the interpreter takes most of it.
    expect(times[1]).toBeLessThan((times[0] ?? 0) / 2)
  })
})
