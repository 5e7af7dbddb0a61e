import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Workspace } from '@ws/core'

/** Counts of one program: rounds, those that were incomplete with exit status 0, and those that failed. */
export interface ListingCount {
  readonly rounds: number
  readonly silent: number
  readonly loud: number
}

/** At `/`: 600 files, so that one listing takes several calls, and 100 more in five directories of `sub`. */
const files = 600
const below = 100
/** The number of entries that `*` matches. */
const entries = files + 1

/**
 * For each program a script that lists as often as `$1` says and prints a line: name, rounds, silent, loud. Signals come all the
 * while, in turn with handlers that restart calls, with others that do not, and ignored.
 */
const scripts: Readonly<Record<string, string>> = {
  // dash (`sh` on Debian) learns of each child by a signal that does not restart calls.
  sh: `exec sh -c 'i=0 bad=0; while [ $i -lt $1 ]; do true & true & true & set -- "$1" *; [ $# = ${entries + 1} ] || bad=$((bad+1)); i=$((i+1)); done; echo "sh $i $bad 0"' sh $1`,
  bash: `exec bash -c 'trap : USR1; perl /.kit/ping.pl $$ USR1 & p=$!; i=0 bad=0; while ((i < $1)); do true & set -- "$1" *; (($# == ${entries + 1})) || ((bad++)); ((++i)); done; kill $p; echo "bash $i $bad 0"' bash $1`,
  zsh: `exec zsh -fc 'trap : USR1; perl /.kit/ping.pl $$ USR1 & p=$!; i=0 bad=0; while ((i < $1)); do true & a=(*); (($#a == ${entries})) || ((bad++)); ((++i)); done; kill $p; echo "zsh $i $bad 0"' zsh $1`,
  python: `exec python3 /.kit/list.py $1`,
  perl: `exec perl /.kit/list.pl $1`,
  node: `exec node /.kit/list.mjs $1`,
  git: each('git', 'git status --porcelain -uall', files + below),
  find: each('find', 'find . -path ./.kit -prune -o -path ./.git -prune -o -type f -print', files + below),
  tar: each('tar', 'tar cf - --exclude=./.kit --exclude=./.git .', files + below + 7, '| tar tf -'),
  'cp rm': `exec bash -c 'export STORM=500 c=0 r=0 cl=0 rl=0; for ((i = 0; i < $1; i++)); do export STORM_MODE=$((i % 3))
    LD_PRELOAD=/.kit/storm.so cp -r sub .kit/copy || ((cl++)); a=(.kit/copy/*/*); ((\${#a[@]} == ${below})) || ((c++))
    LD_PRELOAD=/.kit/storm.so rm -r .kit/copy || { ((rl++)); command rm -rf .kit/copy; }; [ -e .kit/copy ] && ((r++)); done
    echo "cp $i $c $cl"; echo "rm $i $r $rl"' bash $1 2>/dev/null`,
}

export const listingPrograms: readonly string[] = Object.keys(scripts)

/** A process for each round; its lines are counted. */
function each(name: string, command: string, lines: number, then = ''): string {
  return `exec bash -c 'set -o pipefail; IFS=$(printf "\\n"x); IFS=\${IFS%x}; set -f; n=$1 bad=0 loud=0; export STORM=500; for ((i = 0; i < n; i++)); do
    if out=$(STORM_MODE=$((i % 3)) LD_PRELOAD=/.kit/storm.so ${command} 2>/dev/null ${then}); then set -- $out; (($# == ${lines})) || ((bad++)); else ((loud++)); fi
  done; echo "${name} $n $bad $loud"' bash $1`
}

const kit: Readonly<Record<string, string>> = {
  'ping.pl': 'my ($pid, $signal) = @ARGV; select undef, undef, undef, 0.0005 while kill $signal => $pid',
  'list.pl': `use POSIX; my ($n, $bad, $loud) = ($ARGV[0], 0, 0); my $call = ${process.arch === 'arm64' ? 103 : 38};
my $on = pack 'q4', 0, 500, 0, 500; my $off = pack 'q4', 0, 0, 0, 0; $SIG{ALRM} = sub {}; syscall $call, 0, $on, 0;
for my $i (1 .. $n) { my $mode = $i % 3; my $act = POSIX::SigAction->new(sub {}, POSIX::SigSet->new, $mode ? SA_RESTART : 0); $act->safe(1);
  $mode == 2 ? ($SIG{ALRM} = 'IGNORE') : sigaction(SIGALRM, $act);
  opendir my $d, '.' or do { $loud++; next }; my @n = grep { !/^\\./ } readdir $d; $bad++ if @n != ${entries} }
syscall $call, 0, $off, 0; print "perl $n $bad $loud\\n"`,
  'list.py': `import glob, os, signal, sys
n = int(sys.argv[1]); bad = loud = 0; signal.setitimer; handler = lambda *a: None
# Python's own words where a signal comes while its handler is being changed
sys.unraisablehook = lambda e: None if 'ignored due to race condition' in str(e.exc_value) else sys.__unraisablehook__(e)
signal.signal(signal.SIGALRM, handler); signal.setitimer(signal.ITIMER_REAL, .0005, .0005)
for i in range(n):
    signal.signal(signal.SIGALRM, signal.SIG_IGN if i % 3 == 2 else handler)
    if i % 3 == 1: signal.siginterrupt(signal.SIGALRM, False)
    try:
        if (len(glob.glob('*')) if i % 2 else len([x for x in os.listdir('/') if x[0] != '.'])) != ${entries}: bad += 1
    except OSError: loud += 1
signal.setitimer(signal.ITIMER_REAL, 0); print('python', n, bad, loud)`,
  'list.mjs': `import { spawn } from 'node:child_process'
import fs from 'node:fs'
const n = Number(process.argv[2]); let bad = 0, loud = 0; process.on('SIGUSR2', () => {})
const ping = spawn('perl', ['/.kit/ping.pl', process.pid, 'USR2'], { stdio: 'ignore' })
const right = (names) => names.filter((name) => name[0] !== '.').length === ${entries}
for (let i = 0; i < n; i++) { try { if (!right(i % 10 ? fs.readdirSync('/') : await fs.promises.readdir('/'))) bad++ } catch { loud++ } }
ping.kill('SIGKILL'); console.log('node', n, bad, loud)`,
}

/** Makes the files at `/`, and the scripts in `/.kit`. With `storm`, it builds the library for programs without handlers: it needs `cc`. */
export async function prepareListings(workspace: Workspace, { storm }: { readonly storm: boolean }): Promise<void> {
  for (const [name, text] of Object.entries(kit)) await workspace.write(`/.kit/${name}`, text)
  for (const [name, text] of Object.entries(scripts)) await workspace.write(`/.kit/${name.replace(' ', '-')}.sh`, text)
  if (storm) await workspace.write('/.kit/storm.c', await readFile(join(import.meta.dirname, 'storm.c')))
  const made = await workspace.exec(
    [
      'set -e',
      `seq -f 'some-longer-name-of-a-file-%g' ${files} | xargs touch`,
      `for d in 1 2 3 4 5; do mkdir -p sub/$d; (cd sub/$d; seq -f 'file-%g' ${below / 5} | xargs touch); done`,
      ...(storm ? ['cc -O1 -shared -fPIC -o .kit/storm.so .kit/storm.c', 'git init -q .'] : []),
      ...(storm ? ['echo .kit > .git/info/exclude'] : []),
    ].join('\n'),
  )
  if (made.exitCode !== 0) throw new Error(made.stderr)
}

/** Lets one program list, all rounds in one command. The counts are by name. */
export async function countListings(
  workspace: Workspace,
  program: string,
  rounds: number,
): Promise<Record<string, ListingCount>> {
  const { stdout, stderr, exitCode } = await workspace.exec(`sh /.kit/${program.replace(' ', '-')}.sh ${rounds}`)
  if (exitCode !== 0 || stderr !== '') throw new Error(`${program}: ${exitCode}, ${stderr}`)
  const lines = stdout.trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...counts] = line.split(' ')
      const [done = 0, silent = 0, loud = 0] = counts.map(Number)
      return [name, { rounds: done, silent, loud }]
    }),
  )
}
