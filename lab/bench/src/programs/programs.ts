import type { Sizes } from './prepare.ts'

export interface Program {
  readonly name: string
  /** New files have `number` in their names and remain: after many deletions, a file system creates files slowly. */
  readonly command: (number: number) => string
  readonly before?: ((number: number) => string) | undefined
  readonly virtual?: true | undefined
  /** True if the program needs no files: it takes the same time on a mount as on a local disk. */
  readonly fileless?: true | undefined
}

/** Short programs run several times in a sandbox. Otherwise the sandbox's start would hide their time. */
export function programsFor({ files, modules, packages, repeats }: Sizes): readonly Program[] {
  const tree = `${files.toLocaleString('en')} files`
  return [
    { name: `git status, ${tree}`, command: () => times(4 * repeats, 'git -C tree status --porcelain > /dev/null') },
    {
      name: `git add -A, ${tree}`,
      before: (number) => `git init -q --template= repository${number}`,
      command: (number) => `git --git-dir=repository${number}/.git --work-tree=tree add -A`,
    },
    {
      name: `grep -r, ${tree}`,
      command: () => times(repeats, 'grep -rc "not to be found" tree > /dev/null; test $? = 1'),
      virtual: true,
    },
    {
      name: `find -type f, ${tree}`,
      command: () => times(4 * repeats, 'find tree -type f > /dev/null'),
      virtual: true,
    },
    // The output goes into a pipe, because tar reads no file if it writes to /dev/null.
    { name: `tar, ${tree}`, command: () => times(repeats, 'tar cf - tree | cat > /dev/null'), virtual: true },
    {
      name: `python3 -m compileall, ${modules} modules`,
      command: (number) => `python3 -X pycache_prefix=compiled${number} -m compileall -q modules > /dev/null`,
    },
    {
      name: `npm ci, ${packages} packages of 10 files`,
      before: (number) => `cp -r app app${number}`,
      command: (number) =>
        `cd app${number} && npm ci --offline --cache ../npm-cache --no-audit --no-fund --no-update-notifier > /dev/null`,
    },
    {
      name: `pip install --target, ${modules} modules`,
      command: (number) =>
        `python3 -m pip install -q --no-index --no-deps --no-cache-dir --disable-pip-version-check --target installed${number} greet-1.0-py3-none-any.whl`,
    },
    {
      name: 'node, a loop',
      command: () => `node -e 'let x = 0; for (let i = 0; i < 3e7; i++) x = (x * 31 + i) | 0'`,
      fileless: true,
    },
    { name: 'python3, a loop', command: () => `python3 -c 'for i in range(3000000): i * i'`, fileless: true },
    {
      name: '200 MB through a pipe',
      command: () => 'head -c 200000000 /dev/zero | cat > /dev/null',
      fileless: true,
    },
    { name: `cp -r, ${tree}`, command: (number) => `cp -r tree copy${number}`, virtual: true },
    // The last program, because of its deletions.
    {
      name: `rm -r, ${tree}`,
      before: (number) => `mkdir gone${number}; ${times(repeats, `cp -r tree gone${number}/$i`)}`,
      command: (number) => `rm -r gone${number}`,
      virtual: true,
    },
  ]
}

/** Repeats a command in text, with the number in place of `$i`, because sanitize accepts no loops. */
function times(count: number, command: string): string {
  return Array.from({ length: count }, (_, index) => command.replaceAll('$i', String(index))).join('; ')
}
