import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { Bash } from 'just-bash'
import { describe, expect, it } from 'vitest'

import { createBashFileSystem } from '../src/just-bash.ts'
import { open, run } from './support.ts'

const tree = { '/d/keep': 'k', '/d/e/x': 'x', '/latin': '', '/a.txt': 'one\ntwo\n', '/b.log': 'log\n' }

/** A file whose bytes are not UTF-8. */
const latin = Uint8Array.from([0x63, 0xe9, 0x0a])

describe('an empty path', () => {
  it.each([
    'rm -rf "$unset"',
    'find "$unset" -type f -delete',
    'ls ""',
    'cat ""',
    'tar -cf x.tar ""',
    'cp "" x',
    'mv d ""',
  ])('[EX1] names nothing: cd d; %s', async (command) => {
    await using workspace = await open({ files: tree })
    const { exitCode } = await workspace.exec(`cd d; ${command}`)
    if (!command.startsWith('rm')) expect(exitCode).not.toBe(0)
    expect(await workspace.readText('/d/keep')).toBe('k')
    expect(await workspace.readText('/d/e/x')).toBe('x')
  })

  it('[EX1] is neither a file nor a directory', async () => {
    await using workspace = await open({ files: tree })
    expect(await run(workspace, 'for t in -e -f -d; do [ $t "" ] && echo $t; done; echo end')).toBe('end\n')
  })
})

describe('bytes that are not UTF-8', () => {
  it.each([
    ['sed -i s/c/d/ latin', [0x64, 0xe9, 0x0a]],
    ['tac latin > o; mv o latin', [0x63, 0xe9, 0x0a]],
    ['nl -w1 -s: latin > o; mv o latin', [0x31, 0x3a, 0x63, 0xe9, 0x0a]],
    ['paste latin latin > o; mv o latin', [0x63, 0xe9, 0x09, 0x63, 0xe9, 0x0a]],
    ['sort latin | uniq > o; mv o latin', [0x63, 0xe9, 0x0a]],
    ['tr c d < latin > o; mv o latin', [0x64, 0xe9, 0x0a]],
    ['cut -c2 latin > o; mv o latin', [0xe9, 0x0a]],
    ["printf '\\351' > latin", [0xe9]],
    ['awk \'{print $1 "x"}\' latin > o; mv o latin', [0x63, 0xe9, 0x78, 0x0a]],
    ['x=$(cat latin); printf "%s" "$x" > latin', [0x63, 0xe9]],
    ['grep -a c latin > o; mv o latin', [0x63, 0xe9, 0x0a]],
    ['cat latin | tee o > /dev/null; cat o | head -n 1 > latin', [0x63, 0xe9, 0x0a]],
  ])('[EX1] are carried: %s', async (command, expected) => {
    await using workspace = await open()
    await workspace.write('/latin', latin)
    await run(workspace, command)
    expect([...(await workspace.read('/latin')).bytes]).toEqual(expected)
  })

  it('[EX1] reach standard output', async () => {
    await using workspace = await open()
    await workspace.write('/latin', latin)
    await using running = await workspace.spawn('cat latin')
    expect([...Buffer.concat(await Array.fromAsync(running.stdout))]).toEqual([...latin])
  })

  it.each(['read x < latin; echo "$x"', 'rev latin', 'mapfile -t a < latin', "echo $'\\xe9' > o"])(
    '[EX1] are refused where they cannot be carried: %s',
    async (command) => {
      await using workspace = await open()
      await workspace.write('/latin', latin)
      const { exitCode, stderr } = await workspace.exec(`${command}; echo after`)
      expect(exitCode).toBe(126)
      expect(stderr).toContain('not supported by the virtual executor')
    },
  )

  it('[EX1] text is not decoded twice', async () => {
    await using workspace = await open({ files: { '/u': 'é ü\n' } })
    expect(
      await run(workspace, "echo 'Ã©'; read a b < u; echo $b$a; sed s/x/y/ u; while read l; do echo $l; done < u"),
    ).toBe('Ã©\nüé\né ü\né ü\n')
  })
})

describe('data is not lost', () => {
  it('[EX1] `*/` names directories only', async () => {
    await using workspace = await open({ files: tree })
    expect(await run(workspace, 'echo */; for x in */; do echo "${x%/}"; done; ls -d */')).toBe('d/\nd\nd/\n')
    await run(workspace, 'rm -rf */')
    expect(await run(workspace, 'ls')).toBe('a.txt\nb.log\nfile.txt\nlatin\n')
    expect(await run(workspace, 'echo */')).toBe('*/\n')
  })

  it('[EX1] `find -size` rounds up', async () => {
    await using workspace = await open({ files: tree })
    expect(await run(workspace, 'find . -type f -size -1M; find . -type f -size -1k')).toBe('./latin\n./latin\n')
  })

  it.each(['rm -rf .', 'rm -rf ..', 'rm -rf d/..', 'rm -rf d/.', 'cd d && rm -rf ../', 'rm -rf /'])(
    '[EX1] %s is refused',
    async (command) => {
      await using workspace = await open({ files: tree })
      const { exitCode, stderr } = await workspace.exec(command)
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(/refusing to remove|dangerous/)
      expect(await workspace.readText('/d/e/x')).toBe('x')
    },
  )

  it('[EX1] links are removed and moved themselves, also where they lead nowhere', async () => {
    await using workspace = await open({ files: tree })
    await run(workspace, 'ln -s gone x; ln -s a.txt y; mv x z; mv b.log y; rm z')
    expect(await run(workspace, 'cat a.txt y; ls')).toBe('one\ntwo\nlog\na.txt\nd\nfile.txt\nlatin\ny\n')
  })
})

describe('a refusal', () => {
  it.each([
    ['sort -R a.txt | head -1', 'sort -R'],
    ['find . -user root -delete', 'find -user'],
    ['find . -size -100 -exec rm -rf {} +', 'find -size'],
    ['x=$(ls -s); echo "$x"', 'ls -s'],
    ['for f in a b; do du $f; done', 'du'],
    ['find . -exec chmod 4755 {} \\;', 'chmod 4755'],
    ['chmod -R a-w d; rm d/x', 'chmod a-w d'],
    ['echo a.txt | xargs ln b.log', 'hard links'],
    ['awk \'BEGIN { system("date") }\'', 'awk'],
    ['cat /etc/passwd | wc -l', '/etc/passwd'],
    ['head -c 3000000 /dev/zero | wc -c', '/dev/zero'],
    ['sleep 5 & kill $!', '&'],
    ['trap "echo bye" ERR; echo hi', 'trap'],
    ['(trap "echo bye" EXIT; echo hi)', 'trap'],
    ['unset x; rm -rf "$x"/*', '$x'],
    ['mv $x/* d', '$x'],
    ['f() { local -n r=$1; unset -n r; }; f q', 'unset -n'],
    ['read "a[1]" < a.txt', 'read a[1]'],
    ['a=([ -f x ]); echo ${#a[@]}', 'name=('],
    ['a=(a[ b ]c); echo ${#a[@]}', 'name=('],
    ['declare -A m=([a b]=1); echo ${m[*]}', 'name=('],
    ['exec 5>&1; x=$(echo a >&5)', '>&5'],
    ['{ echo a 2>&1 >&3 | cat; } 3>&1', '>&3'],
    ['echo {a..C}', '{a..Z}'],
    ['for i in $LINENO; do echo $i; done', '$LINENO'],
    ['a=(1 2); [[ -v a[a[1]] ]]', '[[ -v'],
    ['declare -A m=([a]=1); declare -p m', 'declare -p'],
    ['declare -A m; k=@; m[$k]=1; m[b]=2; echo "${m[b]}"', 'm[@]'],
    ['echo x[{a,b}]*', '{…}'],
    ['printf "x\\ny\\n" > p; printf "y\\nx\\n" > q; diff p q', 'diff'],
    ['bash -i -c true', 'bash -i'],
    ['bash -c "sort -R a.txt"; true', 'sort -R'],
    ['{ sort -R a.txt; } 2> /dev/null || true', 'sort -R'],
  ])('[EX1] ends the script, and nothing after it runs: %s', async (command, subject) => {
    await using workspace = await open({ files: tree })
    const { exitCode, stderr } = await workspace.exec(`echo before; ${command}; echo after > after`)
    expect(exitCode).toBe(126)
    expect(stderr).toContain(subject)
    expect(stderr).toContain('not supported by the virtual executor')
    expect(await workspace.exists('/after')).toBe(false)
    expect(await workspace.readText('/d/e/x')).toBe('x')
  })

  it('[EX1] keeps the output before it', async () => {
    await using workspace = await open({ files: tree })
    const { stdout } = await workspace.exec('echo before; sort -R a.txt; echo after')
    expect(stdout).toBe('before\n')
  })

  it.each([
    'python3 -c 1; touch after',
    'python3 -c 1 2> /dev/null | cat; touch after',
    'x=$(git status); touch after',
    '[ -z "$(git status)" ] && touch after',
    'bash -c "node x; touch inner"; touch after',
    'find . -exec git add {} \\; ; touch after',
    'true && make; touch after',
    'for i in 1 2; do (npm test); touch after; done',
    'eval "curl x"; touch after',
    'f() { /usr/bin/perl -e 1; touch inner; }; f; touch after',
    'python3 -c 1 & wait; touch after',
  ])('[EX1] a program that is not there ends the script: %s', async (command) => {
    await using workspace = await open({ files: tree })
    const { exitCode, stderr } = await workspace.exec(`echo before; ${command}`)
    expect(exitCode).toBe(127)
    expect(stderr).toContain('the script ended here')
    expect([await workspace.exists('/after'), await workspace.exists('/inner')]).toEqual([false, false])
  })

  it('[EX1] a program that is not there is 127 where its status is tested', async () => {
    await using workspace = await open()
    const script = `git status 2> /dev/null || echo "or $?"; if node x 2> /dev/null; then :; else echo "else $?"; fi
      ! make 2> /dev/null && echo not; while python3 2> /dev/null; do :; done; until ! npm 2> /dev/null; do :; done
      x=$(git log 2> /dev/null) || echo "assigned $?"; y=$(git log 2> /dev/null || echo none); echo $y
      bash -c 'curl x' 2> /dev/null || echo "inner $?"; f() { perl; echo on; }; f 2> /dev/null || :; command -v git || which git || echo none`
    expect(await workspace.exec(script)).toMatchObject({
      exitCode: 0,
      stdout: 'or 127\nelse 127\nnot\nassigned 127\nnone\ninner 127\non\nnone\n',
      stderr: '',
    })
  })
})

describe('an end before the end', () => {
  it.each(['sleep 60', 'while true; do :; done'])('[EX1] keeps the output so far: %s', async (command) => {
    await using workspace = await open({ executor: { limits: { maxCommands: 1e12, maxLoopIterations: 1e12 } } })
    await using running = await workspace.spawn(`echo begun; echo x > /started; ${command}; echo after`, {
      killGrace: 60_000,
    })
    while (!(await workspace.exists('/started'))) await new Promise((resolve) => setImmediate(resolve))
    expect(running.kill()).toBe(true)
    expect(await running.wait()).toMatchObject({ exitCode: null, signal: 'SIGTERM', stdout: 'begun\n', stderr: '' })
  })

  it('[EX1] a timeout keeps the output so far', async () => {
    await using workspace = await open()
    const result = await workspace.exec('echo begun; sleep 600; echo after', { timeout: 8_000, killGrace: 60_000 })
    expect(result).toMatchObject({ timedOut: true, exitCode: null, stdout: 'begun\n', stderr: '' })
  }, 90_000)

  it('[EX1] standard input is not waited for by what does not read it', async () => {
    await using workspace = await open()
    const stdin = (async function* () {
      yield Uint8Array.of(120)
      await new Promise(() => undefined)
    })()
    expect(await workspace.exec('echo hi; ls', { stdin, timeout: 20_000 })).toMatchObject({
      exitCode: 0,
      timedOut: false,
      stdout: 'hi\nfile.txt\n',
    })
  })
})

describe('createBashFileSystem', () => {
  const openFiles = () => createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }] })

  it('[EX1] refuses what cannot wait, instead of dropping it', async () => {
    await using workspace = await openFiles()
    const fs = createBashFileSystem(workspace) as ReturnType<typeof createBashFileSystem> & {
      writeFileSync(path: string, content: string): void
      mkdirSync(path: string): void
      writeFileLazy(path: string, lazy: () => string): void
    }
    expect(() => fs.writeFileSync('/x', 'x')).toThrow(/^ENOTSUP/)
    expect(() => fs.mkdirSync('/x')).toThrow(/^ENOTSUP/)
    expect(() => fs.writeFileLazy('/x', () => 'x')).toThrow(/^ENOTSUP/)
  })

  it('[EX1] an interpreter without a working directory is an error', async () => {
    await using workspace = await openFiles()
    const start = async () => new Bash({ fs: createBashFileSystem(workspace), defenseInDepth: false }).exec('pwd')
    await expect(start()).rejects.toThrow(/ENOTSUP|cwd/)
  })
})

it('[EX1] a directory on the way to an allowed part can be tested and passed', async () => {
  const rule = rules.withinWorkspace('/a/b')
  await using workspace = await open({ files: { '/a/b/c/x': '1', '/o': '2' }, rules: [rule] })
  const { exitCode, stdout } = await workspace.exec(
    '[ -d /a ]; echo $?; [ -e /o ]; echo $?; cd /a/b && pwd && ls; cd c; pwd',
  )
  expect([exitCode, stdout]).toEqual([0, '0\n1\n/a/b\nc\n/a/b/c\n'])
})
