import { rules } from '@ws/core'
import { systemNames as coreNames } from '@ws/core/executor'
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'

import { systemNames } from '../src/files/system-names.ts'
import { open } from './support.ts'

const passwd = await readFile('/etc/passwd', 'utf8')
/** Texts that no command may show: a line of the machine's own files, its names, its variables. */
const canaries = [
  passwd.split('\n')[0] ?? 'root:x:0:0',
  process.cwd(),
  import.meta.dirname,
  'node_modules',
  'WS_CANARY',
]

describe('out of the interpreter', () => {
  afterEach(() => {
    delete process.env.WS_CANARY
  })

  it.each([
    'cat /etc/passwd ../../../../etc/passwd //etc//passwd /proc/self/root/etc/passwd /dev/fd/../../etc/passwd',
    'cat /bin/../etc/passwd /dev/../etc/passwd /proc/self/cwd/etc/passwd /tmp/../../etc/passwd',
    'cat /proc/self/environ /proc/1/environ /proc/self/maps /proc/self/cmdline /proc/self/mountinfo /proc/mounts',
    'ls -la /proc /proc/self /proc/self/fd /sys /etc /run /home /root; readlink /proc/self/exe /proc/self/cwd',
    'env; set; export -p; declare -p; printenv WS_CANARY; echo "$WS_CANARY"; cat /proc/self/environ',
    'ln -s /etc/passwd l; cat l; ln -s / r; cat r/etc/passwd; ln -s ../../../etc m; cat m/passwd; cp -rL m n; ls n',
    'source /etc/passwd; . /etc/profile; bash /etc/passwd; read x < /etc/passwd; echo "$x"; mapfile a < /etc/passwd; echo "${a[@]}"',
    'find / -name passwd; find / -name "*.env"; grep -r root: /etc; rg root: /etc; du /; tree /; ls -R / | head -50',
    'tar cf t.tar /etc/passwd; tar xOf t.tar; tar -P -xf t.tar; gzip -c /etc/passwd; base64 /etc/passwd; od /etc/passwd',
    'sed -n p /etc/passwd; awk 1 /etc/passwd; jq -R . /etc/passwd; yq . /etc/passwd; xan cat /etc/passwd; strings /etc/passwd',
    `awk 'BEGIN { while (("cat /etc/passwd" | getline l) > 0) print l; system("cat /etc/passwd"); print ENVIRON["WS_CANARY"] }'`,
    `awk 'BEGIN { while ((getline l < "/etc/passwd") > 0) print l }'; sed 's/x/cat \\/etc\\/passwd/e' file.txt; sed 'r /etc/passwd' file.txt`,
    `sqlite3 d.db "attach '/etc/passwd' as p; select * from p.sqlite_master; select readfile('/etc/passwd'); .read /etc/passwd"`,
    `sqlite3 :memory: ".shell cat /etc/passwd" ".system cat /etc/passwd" ".open /etc/passwd" "select load_extension('/lib/x86_64-linux-gnu/libc.so.6')"`,
    `jq -n 'env, $ENV, input_filename, ("/etc/passwd" | input)'; jq -n 'include "/etc/passwd"; .'; yq -n 'env(WS_CANARY)'`,
    'echo "${__proto__}" "${constructor}" "${process}"; declare -A a; a[__proto__]=x; a[constructor]=y; echo "${a[@]}" "${a[toString]}"',
    'x=constructor; echo "${!x}"; unset constructor; eval "constructor=1"; __proto__=polluted; echo "$__proto__ $toString"',
    'export __proto__=polluted; env | grep -i proto; jq -n \'{"__proto__": {"polluted": 1}} | .polluted\'',
    "js-exec -c \"require('fs').readFileSync('/etc/passwd')\"; python3 -c \"print(open('/etc/passwd').read())\"; node -p process.env",
    '$(echo cat) $(echo /etc/passwd); command cat /etc/passwd; builtin source /etc/passwd; exec cat /etc/passwd',
    'exec 3< /etc/passwd; cat <&3; cat < /proc/self/fd/3; cat /dev/fd/3; cat /dev/fd/0 /dev/fd/1 /dev/fd/20',
    'cd /etc && cat passwd; cd /proc/self/cwd && pwd && ls; cd ~root && ls; cat ~root/.bashrc ~/../etc/passwd',
    "cat $'/etc/passwd\\0x' $'/etc\\x2fpasswd' /e?c/p*d /etc/{passwd,shadow} /???/passwd",
    'history; fc -l; ulimit -a; jobs; kill -9 1; kill -0 $PPID; ps aux; id; uname -a; hostname',
    'file /etc/passwd; stat /etc/passwd; test -e /etc/passwd && echo there; [ -f /root/.ssh/id_rsa ] && echo there',
    'html-to-markdown /etc/passwd; diff /etc/passwd file.txt; split /etc/passwd; paste /etc/passwd; column /etc/passwd; rev /etc/passwd',
    'xargs -a /etc/passwd echo; xargs cat <<< /etc/passwd; timeout 5 cat /etc/passwd; time cat /etc/passwd; env -i cat /etc/passwd',
  ])('shows nothing of the machine: %s', async (command) => {
    process.env.WS_CANARY = 'WS_CANARY'
    await using workspace = await open()
    const { stdout, stderr } = await workspace.exec(command, { timeout: 20_000 })
    // The name may be echoed by the command itself; the value may not.
    const said = `${stdout}${stderr}`.replaceAll(/printenv WS_CANARY|env\(WS_CANARY\)|ENVIRON\["WS_CANARY"\]/g, '')
    for (const canary of canaries) expect(said).not.toContain(canary)
    expect(stdout).not.toContain('there\n')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(await readFile('/etc/passwd', 'utf8')).toBe(passwd)
  })

  it('there is no network', async () => {
    let requests = 0
    const server = createServer((_, response) => {
      requests++
      response.end('reached')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { port } = server.address() as AddressInfo
      await using workspace = await open()
      const { stdout } = await workspace.exec(
        `curl -s http://127.0.0.1:${port}; wget -O- http://127.0.0.1:${port}; html-to-markdown http://127.0.0.1:${port}
         exec 3<>/dev/tcp/127.0.0.1/${port}; echo GET / >&3; cat <&3; echo x > /dev/tcp/127.0.0.1/${port}; cat < /dev/tcp/127.0.0.1/${port}
         awk 'BEGIN { s = "/inet/tcp/0/127.0.0.1/${port}"; print "GET /" |& s; s |& getline; print }'; nc 127.0.0.1 ${port}`,
        { timeout: 20_000 },
      )
      expect(stdout).not.toContain('reached')
      expect(requests).toBe(0)
    } finally {
      server.close()
    }
  })

  it('a policy cannot be talked round from inside', async () => {
    await using workspace = await open({
      files: { '/private/key': 'CANARY-KEY', '/keep/x': 'kept' },
      rules: [rules.deny('/private'), rules.readOnly('/keep')],
    })
    for (const command of [
      'cat private/key /private/../private/key /workspace/private/key; ln -s private p; cat p/key; cp -r private c; cat c/key',
      'mv private q; cat q/key; tar cf - private | tar xOf -; cat < private/key; source private/key; while read l; do echo $l; done < private/key',
      'find / -type f -exec cat {} +; grep -r "" .; rg . private; cat priv*/k*; awk 1 private/key; sqlite3 private/key .dump; jq -R . private/key',
      'ln private/key hard; cat hard; exec 5< private/key; cat <&5; xargs cat <<< private/key; cat <(cat private/key)',
      'rm -rf private; mv private gone; rm -rf keep; echo x > keep/x; sed -i s/k/X/ keep/x; tee keep/x <<< y; mv keep k2; cp file.txt keep/x; touch keep/n',
      'mkdir -p keep/d; ln -sf /file.txt keep/x; tar xf t.tar -C keep; split file.txt keep/; gzip keep/x; sqlite3 keep/x "create table t(a)"; truncate -s0 keep/x',
      'ln -s /keep/x way; echo over > way; cd keep && echo over > x; exec 9> x; echo over >&9; echo over &> x; echo over >| x; echo over >> x',
    ]) {
      const { stdout } = await workspace.exec(command, { timeout: 20_000 })
      expect(stdout, command).not.toContain('CANARY-KEY')
      expect(await workspace.readText('/keep/x'), command).toBe('kept')
    }
    const listed = (await Array.fromAsync(workspace.list('/', { recursive: true }))).map(({ path }) => path)
    expect(listed).toContain('/private')
    expect(listed.filter((path) => path.startsWith('/keep'))).toEqual(['/keep', '/keep/x'])
  })

  it('a path of the system is one of the workspace only where that has it', async () => {
    expect([...systemNames].sort()).toEqual([...coreNames].sort())
    await using workspace = await open()
    for (const command of [
      'echo x > /bin/ls',
      'echo x > /etc/new',
      'mkdir /usr/d',
      'rm /bin/ls',
      'mv /bin/ls own',
      'mv file.txt /dev/f',
      'cp file.txt /proc/f',
      'ln -s x /dev/l',
    ]) {
      expect((await workspace.exec(command)).exitCode, command).toBeGreaterThan(0)
    }
    expect((await workspace.exec('echo x > /dev/null; ls /bin/ls')).stdout).toBe('/bin/ls\n')
    expect(await workspace.readText('/file.txt')).toBe('a file\n')
    expect((await Array.fromAsync(workspace.list('/'))).map(({ name }) => name)).toEqual(['file.txt'])
    expect((await workspace.exec('cat /dev/null')).stdout).toBe('')
  })
})
