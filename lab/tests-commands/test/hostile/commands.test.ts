/** @module-tag all */
import { denyCommand } from '@ws/command-parser'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { expect, it } from 'vitest'
import { holds } from '@ws/tests-support'

/** The longest line that the parser takes. */
const length = 65_500
const fill = (unit: string): string => unit.repeat(Math.floor(length / unit.length))

/** Lines that are much work for those who read them. */
const lines: Readonly<Record<string, string>> = {
  'many commands': fill('a;'),
  'many words': `echo ${fill('a ')}`,
  'one long word': `echo ${'a'.repeat(length - 10)}`,
  'a long pipeline': `${fill('a|')}a`,
  'a long list': `${fill('a && ')}a`,
  'variables in quotes': `echo "${fill('$a ')}"`,
  variables: `echo ${fill('$a ')}`,
  substitutions: fill('$(a) '),
  'backquoted substitutions': fill('`a` '),
  'nested substitutions': `${'$('.repeat(20_000)}a${')'.repeat(20_000)}`,
  'nested subshells': `${'('.repeat(30_000)}a${')'.repeat(30_000)}`,
  'nested expansions': `${'${a:-'.repeat(9000)}x${'}'.repeat(9000)}`,
  braces: `echo ${fill('{a,b}')}`,
  arithmetic: `echo $((${fill('1+')}1))`,
  redirections: `a ${fill('>a ')}`,
  'an array': `a=(${fill('b ')})`,
  functions: fill('f(){ a;};'),
  conditions: fill('if a;then b;fi;'),
  'lines inside of the line': fill("sh -c 'a';"),
  'one long line inside of the line': `eval '${fill('a;')}'`,
  'eval of eval': fill('eval '),
  'env of env': fill('env '),
  'commands of find': `find ${fill('-exec a ; ')}`,
  'here-documents': fill('a <<b\n'),
  'a here-document with expansions': `cat > f <<EOF\n${fill('$x `f` $(g)\n')}\nEOF\n`,
  'a line that is too long': fill('a;').repeat(20),
  'a line of megabytes': fill('a b;').repeat(200),
}

it('[RU8] lines are judged or refused in time, however many rules ask', async () => {
  await using workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: createMemoryAdapter() }],
    rules: ['rm', 'dd', 'curl'].map((name) => denyCommand([name], { name })),
  })
  // Code that the engine of the language compiles late is compiled now.
  for (let round = 0; round < 3; round += 1) {
    await workspace.exec('warm; up "$x" | then `go` $((1+1)) {a,b}').catch(() => undefined)
  }
  const outcomes = new Set<string>()
  for (const [what, line] of Object.entries(lines)) {
    outcomes.add(await holds(workspace, (it, signal) => it.exec(line, { signal }), what))
  }
  expect([...outcomes].toSorted()).toEqual(['EACCES', 'ENOEXECUTOR'])
})

it('[RU4] a large file in a here-document is no hostile line', async () => {
  await using workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: createMemoryAdapter() }],
    rules: [denyCommand(['rm'])],
  })
  const line = `cat > f <<'EOF'\n${'const $x = f(1); // code\n'.repeat(2500)}EOF\n`
  await expect(workspace.exec(line)).rejects.toMatchObject({ code: 'ENOEXECUTOR' })
  await expect(workspace.exec(`${line}rm f`)).rejects.toMatchObject({ code: 'EACCES', rule: 'denyCommand(rm)' })
})
