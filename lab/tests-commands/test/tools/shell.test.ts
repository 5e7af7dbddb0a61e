import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Rule, rules } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { createTools } from '@ws/tools'
import { expect, it, onTestFinished } from 'vitest'

async function open(executor: Executor, given: readonly Rule[] = []) {
  const scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  const { path: root, owner } = scratch
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root, owner }) }],
    executors: [executor],
    commands: { env: { GIVEN: 'given' } },
    rules: given,
  })
  const toolset = createTools(workspace, { shell: 'session' })
  onTestFinished(async () => {
    await toolset.close()
    await workspace.close()
  })
  const run = async (command: string, more: object = {}): Promise<string> =>
    (await toolset.run('execute', { command, ...more })).text
  return { workspace, toolset, run }
}

const executors = [
  ['bubblewrap', [component('bubblewrap')], createBubblewrapExecutor],
  ['proot', [component('proot')], createProotExecutor],
] as const

for (const [name, needs, create] of executors) {
  describeWith([...needs], `the shell of a toolset: ${name}`, () => {
    it('[LS13] keeps directory, variables, functions, aliases and options', async () => {
      const { run } = await open(create())
      await run(
        'mkdir -p "a b"; cd "a b"; x=\'it is "é"\'; export E=2; readonly R=3; n=(1 "x y"); declare -A m=([k]=v); f() { echo "f $x"; }; ' +
          'shopt -s expand_aliases; alias ll="echo listed"; umask 027; set -u',
      )
      const text = await run('pwd; f; echo "$E $R ${n[1]} ${m[k]}"; ll; umask; env | grep -c ^x=; R=4; echo no')
      expect(text).toContain('/workspace/a b\nf it is "é"\n2 3 x y v\nlisted\n0027\n0\n')
      expect(text).toContain('line 1: R: readonly variable')
      expect(text).not.toMatch(/^no$/mu)
      expect(await run('echo $undefined')).toContain('undefined: unbound variable')
      expect(await run('set +u; echo "$E"')).toContain('2')
    })

    it('[LS13] keeps odd values and names, and variables that are gone', async () => {
      const { run } = await open(create())
      await run('b=$\'\\xff\\x01\\n\'; d=$\'n\\nm\\n\'; mkdir "$d"; cd "$d"; unset HOME; export LANG=C; IFS=:')
      expect(await run('printf %s "$b" | od -An -tx1; echo "${HOME-none}"; [ "$PWD" = "/workspace/$d" ]')).toMatch(
        /^Exit code 0\.\n ff 01 0a\nnone$/u,
      )
      await run('PATH=')
      expect(await run('echo "$PATH"; ls')).toContain('ls: No such file or directory')
      expect(await run('PATH=/usr/bin:/bin; od -An -c <<< "$IFS"')).toContain(':')
    })

    it('[LS13] keeps its state after `exit`, `set -e`, a trap and a redirection, and not after `exec`', async () => {
      const { run } = await open(create())
      expect(await run('x=1; trap "echo bye" EXIT')).toContain('bye')
      expect(await run('x=${x}2; exec > log; echo hidden; exit 7')).toBe('Exit code 7.\n(no output)')
      expect(await run('x=${x}3; set -e; false; x=no')).toBe('Exit code 1.\n(no output)')
      expect(await run('set +e; cat log; echo $x')).toBe('Exit code 0.\nhidden\n123')
      expect(await run('x=no; exec echo done')).toContain('done\nNote: the shell did not tell its state at the end')
      expect(await run('x=no; kill -9 $$')).toContain('Note: the shell did not tell its state at the end')
      expect(await run('x=no; cd /; sleep 60', { timeout: 300 })).toContain('Note: the shell did not tell its state')
      expect(await run('echo $x; pwd')).toContain('123\n/workspace')
    })

    it('[LS13] returns to the root from a directory outside, and from one that was moved', async () => {
      const { run } = await open(create())
      expect(await run('x=1; cd /usr')).toContain(
        "Note: the shell's directory /usr is not a directory of the workspace; the next command starts in /workspace.",
      )
      expect(await run('echo $x; pwd')).toContain('1\n/workspace')
      await run('mkdir made; cd made')
      await run('mv ../made ../moved')
      expect(await run('pwd')).toContain("Error: The shell's directory /workspace/made is gone")
      expect(await run('echo $x; pwd')).toContain('1\n/workspace')
    })

    it('[RU10] sees the rules of its own start, also on files that earlier commands made', async () => {
      const { run } = await open(create(), [rules.denyGlob('**/*.key')])
      expect(await run('mkdir d; cd d; x=1; echo private > a.key')).toContain('it holds from the next command on')
      const text = await run('echo $x; cat a.key')
      expect(text).toContain('1\n')
      expect(text).not.toContain('private')
    })
  })
}

describeWith([component('bubblewrap')], 'the report of a shell', () => {
  it('[TL6] is not taken from output that shows the script, or mixed with output of the background', async () => {
    const { run } = await open(createBubblewrapExecutor())
    expect(
      await run('x=1; tr "\\0" "\\n" < /proc/$$/cmdline | wc -c; trap -p; cat /proc/$$/cmdline | tr -d "\\0"'),
    ).toMatch(/printf '%s%s' ws-/u)
    expect(await run('echo $x')).toContain('1')
    await run('yes & x=2')
    expect(await run('echo $x')).toMatch(/\n[12]$/u)
  })

  it.each([
    'eval() { :; }; exit() { :; }; trap() { :; }',
    'set() { :; }; printf() { :; }; pwd() { echo /; }',
    'shopt -s expand_aliases; alias builtin=echo set=echo eval=echo printf=echo trap=echo exit=echo',
    'enable -n declare printf',
    'IFS=0123456789; readonly LC_ALL=C; set -k',
    'export POSIXLY_CORRECT=1; set -u',
    'exec 49>/dev/null',
  ])('[LS13] is true, or missing, in a shell with %s', async (command) => {
    const { run } = await open(createBubblewrapExecutor())
    await run("x='it is 1'; mkdir d; cd d")
    expect(await run(command)).toMatch(/^Exit code 0\.\n\(no output\)(?:\nNote: [^\n]+)?$/u)
    expect(await run('command echo "$x $PWD"')).toMatch(/^Exit code 0\.\nit is 1 \/workspace\/d(?:\nNote: .*)?$/u)
  })

  it('[LS13] is kept by sh without functions', async () => {
    const { workspace } = await open(createBubblewrapExecutor())
    const first = await workspace.exec('x="a \'b\'"; export E=1; alias ll="echo listed"; cd /tmp', {
      shellState: '',
      shell: 'sh',
    })
    const { directory: cwd = '', data: shellState } = first.shellState ?? {}
    const { stdout } = await workspace.exec('echo "$x"; env | grep ^E; ll; pwd', { shellState, shell: 'sh', cwd })
    expect(stdout).toBe("a 'b'\nE=1\nlisted\n/tmp\n")
    await expect(workspace.exec('true', { shellState: '', shell: 'fish' })).rejects.toThrow()
  })
})

describeWith([component('bubblewrap')], 'the shell of a toolset: sanitize', () => {
  it('[LS13] keeps the directory and plain variables', async () => {
    const { run } = await open(createSanitizeExecutor())
    await run('mkdir a && cd a; X="v w"')
    expect(await run('echo "$X"; pwd')).toBe('Exit code 0.\nv w\n/workspace/a')
    await run('GIVEN=other')
    expect(await run('echo "$GIVEN"')).toContain('\ngiven')
    expect(await run('touch f; exit 3')).toContain('Exit code 3.')
    expect(await run('ls /workspace/a')).toBe('Exit code 0.\nf')
  })
})
