import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

/** A container engine of Debian's packages, on a socket and in directories of its own. */
export interface TestEngine extends AsyncDisposable {
  /** `unix://` and its socket. */
  readonly address: string
  /** The image with perl, bash and the usual programs of this machine. */
  readonly image: string
  /** @returns the parsed answer of the Engine API */
  call<Answer>(method: string, path: string, body?: unknown): Promise<Answer>
  /** Ends the daemon, and starts it again. Containers go on meanwhile, or end with it. */
  restart(): Promise<void>
}

/** Ends both daemons with its input, so also when the test run is killed. Arguments: the directory. */
const guard = `
  S=$1
  containerd --root $S/containerd --state $S/run/containerd --address $S/containerd.sock >$S/containerd.log 2>&1 </dev/null &
  c=$!
  while read -r line; do
    if [ -n "$d" ]; then kill $d; wait $d; fi
    for i in 1 2 3 4 5 6 7 8 9 10; do [ -S $S/containerd.sock ] && break; sleep 0.1; done
    dockerd --containerd $S/containerd.sock -H unix://$S/docker.sock --data-root $S/docker --exec-root $S/exec --pidfile $S/docker.pid \\
      --iptables=false --ip6tables=false --ip-masq=false --bridge=none --storage-driver=\${WS_STORAGE_DRIVER:-overlay2} >>$S/dockerd.log 2>&1 </dev/null &
    d=$!
  done
  kill $d; wait $d; kill $c; wait $c`

const basePackages = [
  'bash',
  'coreutils',
  'dash',
  'diffutils',
  'findutils',
  'grep',
  'gzip',
  'mawk',
  'perl-base',
  'procps',
]
const baseMore = ['libc-bin', 'sed', 'tar', 'util-linux', 'git', 'hostname', 'ncurses-bin']

/** Starts an engine, with an image of these packages and those that they need. */
export async function openEngine(packages: readonly string[] = []): Promise<TestEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'ws-engine-'))
  const child = spawn('/bin/sh', ['-c', guard, 'guard', directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/nonexistent' },
    detached: true,
  })
  const socketPath = join(directory, 'docker.sock')
  const engine = {
    address: `unix://${socketPath}`,
    image: 'ws-test:latest',
    call: <Answer>(method: string, path: string, body?: unknown) => call<Answer>(socketPath, method, path, body),
    async restart() {
      rmSync(socketPath, { force: true })
      child.stdin.write('\n')
      for (let i = 0; ; i++) {
        const isUp =
          existsSync(socketPath) &&
          (await call(socketPath, 'GET', '/_ping').then(
            () => true,
            () => false,
          ))
        if (isUp) return
        if (i > 600) throw new Error('the engine did not start')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.stdin.end()
      await exited
      rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
  try {
    await engine.restart()
    const files = filesOf([...basePackages, ...baseMore, ...packages])
    const tar = spawn('tar', ['-c', '-C', '/', '--no-recursion', '--null', '-T', '-'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    tar.stdin.end(files.map((path) => `${path.slice(1)}\0`).join(''))
    await call(socketPath, 'POST', '/images/create?fromSrc=-&repo=ws-test&tag=latest', tar.stdout)
    return engine
  } catch (error) {
    await engine[Symbol.asyncDispose]()
    throw error
  }
}

/** The files of installed packages and of those that they depend on, with the directories above. */
function filesOf(packages: readonly string[]): string[] {
  const listed = spawnSync('dpkg-query', ['-W', '-f', '${Package}\t${Pre-Depends}, ${Depends}\n'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  }).stdout
  const needs = new Map(
    listed
      .trim()
      .split('\n')
      .map((line) => {
        const [name = '', depends = ''] = line.split('\t')
        return [name, depends.split(/[,|]/).map((one) => one.trim().split(/[ :(]/)[0] ?? '')]
      }),
  )
  const wanted = new Set<string>()
  for (const queue = [...packages]; queue.length > 0; ) {
    const name = queue.pop() ?? ''
    if (wanted.has(name) || !needs.has(name)) continue
    wanted.add(name)
    queue.push(...(needs.get(name) ?? []))
  }
  const { stdout } = spawnSync('dpkg-query', ['-L', ...wanted], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const own = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/tmp', '/etc/alternatives']
  const skipped = /^\/usr\/share\/(?:doc|man|locale|info|lintian)\//
  const merged = stdout.split('\n').map((path) => path.replace(/^\/(bin|sbin|lib\w*)\//, '/usr/$1/'))
  const all = [...new Set([...own, ...merged])].filter((path) => path.startsWith('/') && !skipped.test(path))
  const alternatives = spawnSync('find', ['/etc/alternatives', '-type', 'l', '-print'], {
    encoding: 'utf8',
  }).stdout.split('\n')
  return [...all, ...alternatives]
    .filter((path) => path !== '/.' && statSync(path, { throwIfNoEntry: false }) !== undefined)
    .sort()
}

function call<Answer>(socketPath: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const isStream = typeof body === 'object' && body !== null && 'pipe' in body
  const type = isStream ? 'application/x-tar' : 'application/json'
  const sent = request({ socketPath, method, path, headers: { Host: 'docker', 'Content-Type': type } })
  sent.on('error', reject)
  sent.on('response', (answer) => {
    void text(answer).then((said) => {
      if ((answer.statusCode ?? 500) >= 400) return reject(new Error(`${method} ${path}: ${answer.statusCode} ${said}`))
      const isJson = answer.headers['content-type'] === 'application/json' && !path.startsWith('/images/create')
      resolve((isJson && said !== '' ? JSON.parse(said) : said) as Answer)
    }, reject)
  })
  if (isStream) (body as Readable).pipe(sent)
  else sent.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}
