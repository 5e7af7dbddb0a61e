import { expect, it } from 'vitest'

import { open, run } from './support.ts'

const files = {
  '/a.json': '{"name":"x","n":1,"list":[3,1,2],"deep":{"k":null,"é":true}}\n',
  '/b.json': '[{"id":1,"tag":"a","v":2.5},{"id":2,"tag":"b","v":10},{"id":3,"tag":"a","v":-1}]',
  '/l.ndjson': '{"a":1}\n{"a":2}\n',
  '/plus.jq': '.n + 1 # one more\n',
  '/text': 'one\ntwo\n',
}

/** Lines, and the output of Debian's jq for them. */
const lines: readonly (readonly [line: string, output: string])[] = [
  [`jq -r '.[] | [.id, .tag] | @csv' b.json`, '1,"a"\n2,"b"\n3,"a"\n'],
  [`jq -r '["a b","c"] | @sh' -n`, `'a b' 'c'\n`],
  [`jq -c 'walk(if type == "number" then . + 1 else . end) | .list' a.json`, '[4,2,3]\n'],
  [`jq -n '"\\u00e9"'`, '"é"\n'],
  [`jq -n -c '"foo bar" | [match("[a-z]+"; "g").string]'`, '["foo","bar"]\n'],
  [`jq -n '"aXbX" | sub("(?<l>[a-z])X"; "\\(.l)!")'`, '"a!bX"\n'],
  [`jq -j '.[].tag' b.json`, 'aba'],
  [`jq -r '"  space  "' a.json`, '  space  \n'],
  [`jq -c --arg t a 'map(select(.tag == $t).id)' b.json`, '[1,3]\n'],
  [`jq --argjson n 5 '.n + $n' a.json`, '6\n'],
  [`jq -n --arg v 'a  b' '$v'`, '"a  b"\n'],
  [`jq -n -c '[inputs.a]' l.ndjson l.ndjson`, '[1,2,1,2]\n'],
  ['jq -f plus.jq a.json', '2\n'],
  [`jq -R -s -c 'split("\\n")' text`, '["one","two",""]\n'],
  [`jq -e .missing a.json; echo $?`, 'null\n1\n'],
  [`cat a.json | jq --tab .deep`, '{\n\t"k": null,\n\t"é": true\n}\n'],
  [`A=1 jq -n -c '[env.A, $ENV.A]'; B=2; jq -n '$ENV.B'; export B; jq -n env.B`, '["1","1"]\nnull\n"2"\n'],
  [`for i in 1 2; do jq -n --arg i $i '$i'; done`, '"1"\n"2"\n'],
  [`jq '.[' a.json 2>/dev/null; echo $?`, '3\n'],
  [`jq .n a.json missing; echo $?`, '1\n2\n'],
]

it('[EX1] is jq itself', async () => {
  await using workspace = await open({ files })
  for (const [line, output] of lines) expect([line, await run(workspace, line)]).toEqual([line, output])
})

it.each([
  ['jq --slurpfile x a.json . a.json', 'jq --slurpfile'],
  ['jq', 'give a filter, such as `.`'],
  [`jq 'import "m" as m; .' a.json`, 'modules, and names and lines of files, are not known here'],
  ['jq input_filename a.json', 'modules, and names and lines of files, are not known here'],
])('[EX1] refuses %s', async (line, reason) => {
  await using workspace = await open({ files })
  const { exitCode, stderr } = await workspace.exec(line)
  expect(exitCode).toBe(126)
  expect(stderr).toContain(reason)
})

it('is ended by a timeout in a loop, and by its limit of memory, and runs again', async () => {
  await using workspace = await open({ files, executor: { limits: { maxMemory: 64 * 1024 * 1024 } } })
  const ended = await workspace.exec(`jq -n 'def f: f; f'`, { timeout: 500, killGrace: 0 })
  expect(ended.timedOut).toBe(true)
  const full = await workspace.exec(`jq -n '[range(1e9)] | length'`)
  expect(full).toMatchObject({ exitCode: 134, stderr: 'jq: error: out of memory: the limit is 67108864 bytes\n' })
  expect(await run(workspace, 'jq .n a.json')).toBe('1\n')
})
