/** The files of the vectors' workspace. */
export const files: Readonly<Record<string, string>> = {
  'a.txt': 'alpha\nbeta\ngamma\n',
  'b.txt': 'beta\ndelta\n',
  'nums.txt': '3\n1\n2\n10\n',
  'data.csv': 'name,age\nbob,3\namy,5\n',
  'with space.txt': 'spaced\n',
  "it's.txt": 'quote\n',
  'src/main.ts': "import x from '/src/lib'\nconst url = 'http://example.com/a.txt'\n// TODO /a.txt\n",
  'src/lib/util.ts': "export const p = '/usr/bin'\n// TODO later\n",
  'src/lib/deep/x.ts': 'deep\n',
  'docs/readme.md': '# Title\n/a.txt is a path\n',
  'docs/one.txt': 'one\n',
  'docs/two.txt': 'two\n',
  'script.sh': '#!/bin/sh\necho script\n',
  list0: 'a.txt\0b.txt\0',
  'names.txt': 'a.txt\n/b.txt\n',
  'program.awk': '{ print $1 }\n',
  'edit.sed': 's/a/b/\n',
}

export const links: Readonly<Record<string, string>> = {
  'to-a': 'a.txt',
  'to-src': 'src',
  'src/up': '../a.txt',
  'src/lib/to-docs': '../../docs',
}

/** Links that leave the workspace: in the workspace of the refusals only. */
export const escapes: Readonly<Record<string, string>> = {
  'esc/out': '../../secret.txt',
  'esc/sibling': '../../ws2',
  'esc/abs': '/etc/passwd',
  'esc/virtual': '/a.txt',
  'esc/loop': 'loop',
  'esc/chain': 'out',
  'esc/into/secret.txt': '../../../secret.txt',
}
