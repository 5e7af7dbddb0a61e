import { pickerOf, randomOf } from './random.ts'

const names = ['a', 'b', 'sub', 'x y', "it's", '-n', '#c', 'ü', '.env', '*', 'new\nline', 'long'.repeat(20)]

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** Programs that are among the commands. */
interface Programs {
  readonly git?: boolean
  /** `make`, and `npm install` of a package in the tree. */
  readonly builds?: boolean
}

/** A cap of bytes that no file of the commands reaches: the largest come close to it. */
export const maxFileBytes = 1_000_000

/** Shell commands that make a tree, and others that change it in every way that a shell knows. All follow from the seed. */
export function randomCommands(seed: number, count: number, { git, builds }: Programs = {}): string[] {
  const random = randomOf(seed)
  const pick = pickerOf(random)
  const path = (): string => {
    const depth = Math.floor(random() * 3) + 1
    return quote(`./${Array.from({ length: depth }, () => pick(names)).join('/')}`)
  }
  const size = (): number => pick([0, 1, 10, 4_096, 4_096, 70_000, 70_000, maxFileBytes - 1_000])
  // by the shell itself: each program would cost a process
  const fill = (bytes = size()): string => {
    return bytes === 0 ? 'true' : `printf '%${pick(['0', ''])}${bytes}d' ${Math.floor(random() * 10)}`
  }
  const kinds: (() => string)[] = [
    () => `mkdir -p -- ${path()}`,
    () => `mkdir -p -- ${path()}/deep && ${fill()} > ${path()}`,
    () => `${fill()} > ${path()}`,
    () => `${fill()} > ${path()}`,
    () => `${fill(pick([0, 1, 10]))} >> ${path()}`,
    () => `: > ${path()}`,
    () => `printf '#!/bin/sh\\necho ${seed}\\n' > ${path()}`,
    () => `rm -rf -- ${path()}`,
    () => `mv -- ${path()} ${path()}`,
    () => `cp -a -- ${path()} ${path()}`,
    () => `ln -s -- ${path()} ${path()}`,
    () => `ln -- ${path()} ${path()}`,
    () => `ln -f -- ${path()} ${path()}`,
    () => `chmod ${pick(['600', '644', '755', '400', '700'])} -- ${path()}`,
    () => `touch -d @${1_600_000_000 + Math.floor(random() * 1e8)} -- ${path()}`,
    () => `truncate -s ${size()} -- ${path()}`,
    () => `sed -i s/x/q/ -- ${path()}`,
  ]
  if (git === true) {
    const commit = 'git -c user.name=a -c user.email=a@b.c -c gc.auto=0'
    kinds.push(
      () => `git init -q . && git add -A && ${commit} commit -qm one`,
      () => `git checkout -q -B ${pick(['one', 'two'])}`,
      () => `git add -A && ${commit} commit -qm more`,
      () => `git clean -fdq`,
    )
  }
  const commands = Array.from({ length: count }, () => pick(kinds)())
  if (builds !== true) return commands
  const build = `printf 'all: b/out\\nb/out: in\\n\\tmkdir -p b && cat in in > b/out\\n' > Makefile && echo ${seed} > in && make -s`
  const manifest = JSON.stringify({ name: 'local', version: `1.0.${seed}`, bin: 'run.js' })
  const install = 'npm install --offline --install-links --no-audit --no-fund --no-update-notifier'
  const add = `mkdir -p local && echo ${quote(manifest)} > local/package.json && echo ${seed} > local/run.js && ${install} --cache "$PWD/.cache" ./local`
  return [...commands, build, add]
}
