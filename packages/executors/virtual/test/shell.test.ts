import { rules } from '@ws/core'
import { describe, expect, it } from 'vitest'

import { wordRefusals } from '../src/worker/wording.ts'
import { open, run } from './support.ts'

describe('redirections', () => {
  it('to what cannot be opened fail, and the script goes on', async () => {
    await using workspace = await open({ files: { '/ro/x': 'x' }, rules: [rules.readOnly('/ro')] })
    for (const redirection of ['>', '>>', '>|', '1>', '2>', '&>', '&>>', '>&']) {
      const { stdout, stderr, exitCode } = await workspace.exec(
        `echo before; echo hidden ${redirection} ro/x && echo wrong; echo "after $?"; { echo a; } ${redirection} no/dir || echo or`,
      )
      expect(stdout, redirection).toBe('before\nafter 1\nor\n')
      expect(stderr, redirection).toBe('bash: ro/x: Permission denied\nbash: no/dir: No such file or directory\n')
      expect(exitCode, redirection).toBe(0)
    }
    expect(await workspace.readText('/ro/x')).toBe('x')
  })

  it.each([
    ['echo o > f; cat f', 'o\n'],
    ['{ echo o; echo e >&2; } > f 2> g; cat g f', 'e\no\n'],
    ['{ echo o; echo e >&2; } > f 2>&1; cat f', 'o\ne\n'],
    ['{ echo o; echo e >&2; } &> f; echo more &>> f; cat f', 'o\ne\nmore\n'],
    ['{ echo o; echo e >&2; } 2>&1 > f; echo -; cat f', 'e\n-\no\n'],
    ['echo a > f > g; wc -c < f; cat g', '0\na\n'],
    ['for i in 1 2; do echo $i; done > f; echo 3 >> f; cat f', '1\n2\n3\n'],
    ['f() { echo in; }; f > g; cat g', 'in\n'],
    ['x=$(echo a > f; echo b); echo $x; cat f', 'b\na\n'],
    ['exec 5> f; echo five >&5; exec 5>&-; cat f', 'five\n'],
    ['exec > f; echo hidden; exec > /dev/stdout', ''],
    ['(echo a; echo b) | sort -r > f; cat < f', 'b\na\n'],
    ['set -o noclobber; echo a > f; echo b > f; echo c >| f; cat f', 'c\n'],
    ['> f; wc -l < f; cat <<< here > g; cat g', '0\nhere\n'],
    ['n=0; echo x > "g$((n+=1))"; echo $n; ls -A | tail -1', '1\ng1\n'],
    ['echo x 2>&1 >/dev/null; echo "a > b"; [[ a > b ]] || echo no', 'a > b\nno\n'],
    ["bash -c 'echo nested > f'; cat f; eval 'echo evaluated > f'; cat f", 'nested\nevaluated\n'],
  ])('mean what they mean: %s', async (command, expected) => {
    await using workspace = await open()
    expect((await workspace.exec(command)).stdout).toBe(expected)
  })
})

describe('refusals', () => {
  it('are said as a shell says them', async () => {
    await using workspace = await open({
      files: { '/no/k': 'k', '/ro/x': 'x', '/deep/no/k': 'k' },
      rules: [rules.deny('/no'), rules.readOnly('/ro'), rules.deny('/deep/no')],
    })
    const say = async (command: string) => {
      const { exitCode, stderr } = await workspace.exec(command)
      expect(exitCode, command).not.toBe(0)
      return stderr.trim()
    }
    expect(await say('cat no/k')).toBe('cat: no/k: Permission denied')
    expect(await say('cat missing')).toBe('cat: missing: No such file or directory')
    expect(await say('ls no')).toBe("ls: cannot open directory 'no': Permission denied")
    expect(await say('head -1 /no/k')).toBe("head: cannot open '/no/k' for reading: Permission denied")
    expect(await say('rm ro/x')).toBe("rm: cannot remove 'ro/x': Permission denied")
    expect(await say('rm -rf no')).toBe("rm: cannot remove 'no': Permission denied")
    expect(await say('touch /ro/n')).toContain('Permission denied')
    expect(await say('mkdir ro/n')).toContain('Permission denied')
    expect(await say('cp file.txt ro/')).toContain('Permission denied')
    expect(await say('mv file.txt ro/')).toContain('Permission denied')
    expect(await say('cat file.txt/')).toBe('cat: file.txt/: Not a directory')
    expect(await say('cat ro')).toBe('cat: ro: Is a directory')
    expect(await say('find deep -type f')).toBe('find: ‘deep/no’: Permission denied')
    expect(await say('sed -i s/a/b/ ro/x')).toContain('Permission denied')
  })

  it('are worded once each, and other lines are left alone', () => {
    const failures = [{ path: '/a b/c', code: 'EACCES' }]
    expect(wordRefusals('cat: a b/c: No such file or directory\ncat: b/c: No such file or directory\n', failures)).toBe(
      'cat: a b/c: Permission denied\ncat: b/c: No such file or directory\n',
    )
    expect(wordRefusals("x: EROFS: read-only file system, open '/y'\nEACCES\n", [])).toBe(
      'x: /y: Read-only file system\nEACCES\n',
    )
    expect(wordRefusals('xa b/c: No such file or directory', failures)).toBe('xa b/c: No such file or directory')
  })
})

describe('what agents do', () => {
  it('works', async () => {
    await using workspace = await open({
      files: {
        '/src/a.ts': 'export const a = 1\n',
        '/src/b.ts': 'import { a } from "./a"\n',
        '/data.json': '{"n":[1,2]}',
      },
    })
    expect(await run(workspace, 'grep -rn "import" src | head -5')).toBe('src/b.ts:1:import { a } from "./a"\n')
    expect(await run(workspace, 'find . -name "*.ts" | sort | xargs wc -l | tail -1')).toContain('2 total')
    expect(await run(workspace, "sed -i 's/= 1/= 2/' src/a.ts && cat src/a.ts")).toBe('export const a = 2\n')
    expect(await run(workspace, "jq '.n | add' data.json")).toBe('3\n')
    expect(await run(workspace, 'cat > new.txt <<EOF\nline $((1+1))\nEOF\ncat new.txt')).toBe('line 2\n')
    expect(await run(workspace, 'echo t > /tmp/t && cat /tmp/t && ls -A /')).not.toContain('tmp')
    expect(
      await run(workspace, `sqlite3 db.sqlite 'create table t(a); insert into t values (3); select a+1 from t'`),
    ).toBe('4\n')
    expect((await workspace.stat('/db.sqlite')).size).toBeGreaterThan(0)
    expect(await run(workspace, 'which ls; command -v grep; type cd | head -1')).toContain('/usr/bin/ls')
    expect(await run(workspace, 'echo "exit 7" > s.sh; bash s.sh; echo $?')).toBe('7\n')
  })
})
