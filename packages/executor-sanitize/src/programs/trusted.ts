import { type Argument, type Call, textOf } from '../commands/call.ts'
import type { Outcome } from '../commands/context.ts'
import { lookAt } from '../paths/links.ts'
import { namesOf } from '../paths/path-view.ts'
import { refuse } from '../refusal.ts'

/** Programs that run code, reach the network or act as somebody else: never without `trustPrograms`. */
const interpreters = new Set(
  `python python2 python3 pypy pypy3 node nodejs deno bun perl ruby lua luajit php tclsh wish expect ghci runghc guile sbcl clisp racket julia
  R Rscript octave java jshell scala kotlin groovy go cargo make gmake cmake ninja meson npm npx pnpm yarn corepack pip pip3 pipx uv poetry gem
  bundle rake mvn gradle ant git hg svn ssh scp sftp rsync curl wget nc ncat netcat socat telnet ftp lftp gdb lldb strace ltrace valgrind perf
  vi vim nvim view ex ed emacs nano pico less more most man info sqlite3 psql mysql redis-cli m4 dc gcc cc g++ c++ clang tcc as ld docker podman
  kubectl systemctl at batch crontab screen tmux script su sudo doas chroot unshare nsenter bwrap proot mount umount busybox toybox parallel
  watch entr setpriv setsid flock start-stop-daemon dpkg apt apt-get rpm openssl gpg zsh ksh ksh93 mksh fish csh tcsh ash tsc tsx ts-node
  pytest jest vitest eslint prettier black ruff mypy rustc patch ld.so cpio strings nm objdump readelf size ar ranlib strip objcopy addr2line run-parts prove cpan perldoc ipython ipython3 pdb pdb3 pydoc pydoc3
  prlimit taskset chrt capsh newgrp sg runuser pkexec xdg-open`.split(/\s+/),
)

export function runsCode(name: string): boolean {
  return (
    interpreters.has(name) ||
    /^(?:python|pypy|perl|ruby|lua|php|node|gcc|clang|g\+\+)[\d.-]+$/.test(name) ||
    name.startsWith('ld-linux')
  )
}

/** Options whose value is code or a message: text, whatever it looks like. */
const texts: Readonly<Record<string, readonly string[]>> = {
  python: ['-c', '-m', '-W', '-X'],
  node: ['-e', '-p', '-pe', '-c', '--eval', '--print', '--input-type', '-C', '--conditions'],
  perl: ['-e', '-E', '-ne', '-pe', '-lne', '-lpe', '-nle', '-ple', '-0ne', '-0pe', '-i', '-M'],
  ruby: ['-e', '-ne', '-pe'],
  php: ['-r'],
  lua: ['-e'],
  git: ['-m', '--message', '-c', '-S', '-G', '--grep', '--author', '--format', '--pretty', '-b', '-B', '--date', '-n'],
  npm: [],
  jq: ['--arg', '--argjson', '--indent'],
  curl: ['-H', '--header', '-d', '--data', '--data-raw', '-X', '-A', '-e', '-u', '-w'],
}

/**
 * A program that the caller trusts: its arguments that are whole absolute paths of the workspace, also behind `--name=`,
 * are mapped; the rest stays as it is. Code after `-c` or `-e` is text.
 */
export function runTrusted(call: Call): Outcome {
  const family = call.name.replace(/[\d.]+$/, '')
  const codeOptions = texts[family === 'nodejs' ? 'node' : family] ?? []
  let filter = call.name === 'jq'
  for (let index = 0; index < call.args.length; index++) {
    const argument = call.args[index]
    if (argument === undefined) break
    const text = textOf(argument)
    if (text !== undefined && codeOptions.includes(text)) {
      const next = call.args[++index]
      if (next !== undefined) call.text(next, { tainted: true })
    } else if (text !== undefined && filter && !text.startsWith('-')) {
      filter = false
      call.text(argument)
    } else mapArgument(call, argument)
  }
  // What it makes, nobody has looked at; the caller trusts it.
  return call.done({ prints: call.hosts || call.tainted || readsPaths(call) })
}

function readsPaths({ context }: Call): boolean {
  return context.input.tainted
}

function mapArgument(call: Call, argument: Argument): void {
  const { value } = argument
  const text = textOf(argument)
  const option = text === undefined ? null : /^--?[\w-]+=(?=\/)/.exec(text)
  if (option !== null) {
    if (looksLikeOurs(call, text?.slice(option[0].length) ?? '')) call.attached(argument, option[0].length, 'write')
    return
  }
  if (value.host) {
    call.path(argument, 'write')
    return
  }
  if (value.texts === undefined) {
    // Its text is not known; a trusted program may have it as it is.
    if (value.tainted) call.hosts = true
    return
  }
  if (value.texts.every((own) => own.startsWith('/')) && value.texts.every((own) => looksLikeOurs(call, own)))
    call.path(argument, 'write')
  else call.text(argument, { tainted: true })
}

/** True for a path whose first name is there, or which lies below a mount of its own. */
function looksLikeOurs(call: Call, text: string): boolean {
  const place = call.context.settings.view.place(text)
  if (place.kind !== 'mount') return false
  if (place.mount.at !== '/') return true
  const [first] = namesOf(place.inside)
  return (
    first === undefined || namesOf(place.inside).length === 1 || lookAt(`${place.mount.host}/${first}`) !== undefined
  )
}

/** A program that is not known: it may have words, and relative paths that stay inside. */
export function runUnknown(call: Call): Outcome {
  // The shell says that there is no such program, whatever its arguments are.
  if (!call.name.includes('/') && !call.context.settings.isInstalled(call.name)) {
    for (const argument of call.args) call.text(argument, { tainted: true })
    return call.done({ prints: false })
  }
  for (const argument of call.args) {
    const { value, word } = argument
    if (value.texts === undefined || value.tainted) return refuse('program', `${call.name} ${word.text}`)
    const options = value.texts.filter((own) => own.startsWith('-'))
    // `-f/x`, `if=/x`, `@/x`: any slash in an option, or behind what is no part of a name, could begin a path.
    const hidden =
      options.some((own) => own.includes('/') || own.includes('..')) ||
      value.texts.some((own) => /[^\w./ -]\/|[^\w./ -]\.\.(?:\/|$)/.test(own))
    const system = value.texts.every((own) => own.startsWith('/') && isSystem(call, own))
    if (hidden || (!system && value.texts.some((own) => own.startsWith('/'))))
      refuse('program', `${call.name} ${word.text}`)
    if (options.length === 0) call.path(argument, 'read')
  }
  if (call.context.input.tainted) refuse('shown', call.name)
  return call.done()
}

function isSystem(call: Call, path: string): boolean {
  const { kind } = call.context.settings.view.place(path)
  return kind === 'program' || kind === 'device'
}
