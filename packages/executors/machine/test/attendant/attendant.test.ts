import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { sandboxProgram } from '@ws/sandbox'
import { component, describeWith, give, processesWith, until } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { Attendant } from '../../src/attendant/client.ts'
import { openLocal, run } from './support.ts'

/** Processes that are `sleep` with this number. */
const sleeping = (name: string) =>
  processesWith(`sleep ${name}`).filter(({ commandLine }) => commandLine.startsWith('sleep ')).length
const mark = () => `3${Math.floor(Math.random() * 1e9)}.5`

describeWith([component('perl'), component('bash')], 'an attendant', () => {
  for (const isText of [false, true]) {
    const how = isText ? 'over lines of base64' : 'over bytes'

    it(`runs commands ${how}: status, both streams, input, directory and environment`, async () => {
      await using local = openLocal(isText)
      const { attendant } = local
      const first = run(attendant, 'echo out; echo err >&2; pwd; echo "$KEPT $GIVEN"; exit 7', {
        cwd: '/usr',
        env: { GIVEN: 'a=b\n' },
      })
      expect(await first.result).toEqual({ status: 7, survivors: false })
      expect([first.stdout(), first.stderr()]).toEqual(['out\n/usr\nkept a=b\n\n', 'err\n'])
      const clear = run(attendant, 'echo "[$KEPT]"', { clearEnv: true, env: { PATH: '/bin' } })
      await clear.result
      expect(clear.stdout()).toBe('[]\n')
      const killed = run(attendant, 'kill -USR1 $$')
      expect(await killed.result).toEqual({ signal: 'SIGUSR1', survivors: false })
      expect(attendant.commands).toBe(0)
    })

    it(`carries every byte and any amount ${how}`, async () => {
      await using local = openLocal(isText)
      const bytes = Buffer.alloc(3_000_001, Buffer.from(Array.from({ length: 256 }, (_, byte) => (byte * 7) % 256)))
      const chunks: Buffer[] = []
      const order = { argv: ['cat'], hasInput: true }
      const command = local.attendant.start(order, {
        onStdout: (chunk) => void chunks.push(Buffer.from(chunk)),
        onStderr: () => undefined,
      })
      command.stdin?.end(bytes)
      expect(await command.exited).toEqual({ status: 0 })
      await command.gone
      expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
      for (const length of [0, 1, 2, 3, 44, 45, 46, 47, 90]) {
        const short = run(local.attendant, 'cat', { hasInput: true })
        short.command.stdin?.end('x'.repeat(length))
        await short.result
        expect(short.stdout()).toBe('x'.repeat(length))
      }
    })
  }

  it('takes an order and its input in one write', async () => {
    await using local = openLocal()
    await local.attendant.greeted
    const cat = run(local.attendant, 'cat', { hasInput: true })
    cat.command.stdin?.end('text')
    await cat.command.exited
    expect(local.writes).toHaveLength(1)
    await cat.result
    expect(cat.stdout()).toBe('text')
  })

  it('runs many commands at once, each with its own streams', async () => {
    await using local = openLocal()
    const all = Array.from({ length: 40 }, (_, number) =>
      run(local.attendant, `read line; echo "$line ${number}"`, { hasInput: true }),
    )
    for (const [number, { command }] of [...all.entries()].reverse()) command.stdin?.end(`to ${number}\n`)
    await Promise.all(all.map(({ result }) => result))
    expect(all.map(({ stdout }) => stdout())).toEqual(all.map((_, number) => `to ${number} ${number}\n`))
  })

  it('tells why a command never ran', async () => {
    await using local = openLocal()
    const ends = [
      run(local.attendant, '', { argv: ['no-such-program'] }),
      run(local.attendant, 'true', { cwd: '/no/such/directory' }),
      run(local.attendant, 'true', { argv: ['/usr'] }),
    ]
    const [program, directory, forbidden] = await Promise.allSettled(ends.map(({ command }) => command.begun))
    expect(program).toMatchObject({ reason: { code: 'ENOEXEC', reason: 'the program cannot be run there (ENOENT)' } })
    expect(directory).toMatchObject({ reason: { reason: 'the working directory cannot be entered (ENOENT)' } })
    expect(forbidden).toMatchObject({ reason: { reason: 'the program cannot be run there (EACCES)' } })
    await expect(ends[0]?.command.exited).rejects.toMatchObject({ code: 'ENOEXEC' })
    await Promise.all(ends.map(({ command }) => command.gone))
    expect(local.attendant.commands).toBe(0)
  })

  it('runs an order after another one has ended with status 0, and not after another end', async () => {
    await using local = openLocal()
    const before = run(local.attendant, 'read line; echo one', { hasInput: true })
    const then = run(local.attendant, 'cat', { hasInput: true, after: before.command.id })
    then.command.stdin?.end('two')
    before.command.stdin?.end('go\n')
    expect(await then.result).toEqual({ status: 0, survivors: false })
    expect(then.stdout()).toBe('two')
    const late = run(local.attendant, 'echo late', { after: before.command.id })
    expect(await late.result).toMatchObject({ status: 0 })
    const fails = run(local.attendant, 'exit 3')
    const last = run(local.attendant, 'echo never', { after: fails.command.id })
    const afterLast = run(local.attendant, 'echo never', { after: last.command.id })
    await expect(last.result).rejects.toMatchObject({ reason: expect.stringContaining('was not run') })
    await expect(afterLast.result).rejects.toMatchObject({ code: 'EIO' })
    expect([last.stdout(), afterLast.stdout()]).toEqual(['', ''])
  })

  it('keeps what a command leaves, and ends exactly that, beside other commands', async () => {
    await using local = openLocal()
    const [kept, left] = [mark(), mark()]
    const other = run(local.attendant, `setsid sleep ${kept} >/dev/null 2>&1 & read line`, { hasInput: true })
    await until(() => sleeping(kept) === 1)
    // twice forked, in a session of its own, without a parent, and deaf to polite signals
    const script = `(setsid sh -c 'trap "" TERM HUP; (sleep ${left} & sleep ${left}) & sleep ${left}' &) >/dev/null 2>&1; echo done`
    const command = run(local.attendant, script, { keepsRest: true })
    expect(await command.command.exited).toEqual({ status: 0 })
    await until(() => sleeping(left) === 3)
    command.command.end()
    expect(await command.command.gone).toEqual({ survivors: false })
    expect(processesWith(left)).toEqual([])
    expect(sleeping(kept)).toBe(1)
    other.command.end()
    expect(await other.result).toEqual({ signal: 'SIGKILL', survivors: false })
    expect(processesWith(kept)).toEqual([])
  })

  it('ends a program that forks without end', async () => {
    await using local = openLocal()
    const name = mark()
    const script = `f() { sh -c 'exec sleep ${name}' & (f) & sleep 0.01; }; f; f; sleep 60`
    const command = run(local.attendant, script)
    await until(() => processesWith(`sleep ${name}`).length > 20)
    command.command.end()
    expect(await command.result).toEqual({ signal: 'SIGKILL', survivors: false })
    expect(processesWith(name)).toEqual([])
  })

  it('gives signals to the group of a command, or to all of its processes', async () => {
    await using local = openLocal()
    const traps = `trap 'echo usr1' USR1; trap 'echo term; exit 5' TERM`
    const command = run(local.attendant, `${traps}; echo ready; while :; do sleep 0.01; done`)
    await until(() => command.stdout() === 'ready\n')
    expect(command.command.signal('SIGTERM', 'command')).toBe(true)
    expect(await command.result).toEqual({ status: 5, survivors: false })
    expect(command.stdout()).toBe('ready\nterm\n')
    expect(command.command.signal('SIGTERM', 'command')).toBe(false)
    const far = run(
      local.attendant,
      `setsid sh -c 'trap "echo far; exit" USR1; echo in; while :; do sleep 0.01; done' & trap '' USR1; wait`,
    )
    await until(() => far.stdout() === 'in\n')
    far.command.signal('SIGUSR1', 'everyone')
    await far.result
    expect(far.stdout()).toBe('in\nfar\n')
  })

  it('waits for a listener that waits, and holds no more than the credit', async () => {
    await using local = openLocal()
    const hold = Promise.withResolvers<void>()
    let [taken, total] = [0, 0]
    const command = local.attendant.start(
      { argv: ['sh', '-c', 'head -c 20000000 /dev/zero; echo end >&2'] },
      {
        onStdout: async (chunk) => {
          total += chunk.length
          taken++
          if (taken === 1) await hold.promise
        },
        onStderr: () => undefined,
      },
    )
    await until(() => taken === 1)
    // another command goes on, in both directions
    const other = run(local.attendant, 'head -c 2000000 /dev/zero | wc -c')
    await other.result
    expect(other.stdout()).toBe('2000000\n')
    expect([taken, total <= 262_144]).toEqual([1, true])
    hold.resolve()
    expect(await command.exited).toEqual({ status: 0 })
    await command.gone
    expect(total).toBe(20_000_000)
  })

  it('stops the input of a command that does not read, and drops it when the command closes it', async () => {
    await using local = openLocal()
    const slow = run(local.attendant, 'sleep 60', { hasInput: true })
    let written = 0
    const { stdin } = slow.command
    for (let i = 0; i < 100; i++) stdin?.write(Buffer.alloc(65_536), () => (written += 65_536))
    const other = run(local.attendant, 'cat', { hasInput: true })
    other.command.stdin?.end('other')
    await other.result
    expect(other.stdout()).toBe('other')
    expect(written).toBeLessThanOrEqual(262_144 + 65_536)
    slow.command.end()
    expect(await slow.result).toMatchObject({ signal: 'SIGKILL' })
    const deaf = run(local.attendant, 'exec 0<&-; echo closed; sleep 60', { hasInput: true })
    await until(() => deaf.stdout() === 'closed\n')
    // its keeper may hold the other end for a moment
    await until(() => deaf.command.stdin?.write('x') === undefined || deaf.command.stdin.destroyed)
    deaf.command.end()
    await deaf.result
  })

  it('refuses an order that is too long, and goes on with other commands', async () => {
    await using local = openLocal()
    const beside = run(local.attendant, 'read line; echo beside', { hasInput: true })
    await beside.command.begun
    const long = run(local.attendant, 'true', { env: { LONG: 'x'.repeat(2 ** 25) } })
    await expect(long.result).rejects.toMatchObject({ code: 'ENOEXEC', reason: expect.stringContaining('too long') })
    beside.command.stdin?.end('go\n')
    expect(await beside.result).toMatchObject({ status: 0 })
    expect(beside.stdout()).toBe('beside\n')
  })

  it('is lost when it sends more output than was granted', async () => {
    async function* output() {
      yield Buffer.from('ws-attendant 1\n')
      const piece = Buffer.alloc(9 + 100_000)
      piece.writeUInt32BE(5 + 100_000)
      piece.write('1', 4)
      piece.writeUInt32BE(1, 5)
      for (let count = 0; count < 3; count++) yield piece
      await never.promise
    }
    const never = Promise.withResolvers<void>()
    const attendant = new Attendant({ write: async () => undefined, end: never.resolve, output: output() })
    const listening = Promise.withResolvers<void>()
    attendant.start({ argv: ['true'] }, { onStdout: () => listening.promise, onStderr: () => undefined })
    expect(await Promise.race([attendant.lost.then(() => 'lost'), delay(2_000, 'held')])).toBe('lost')
    listening.resolve()
  })

  it('gives a long content as a descriptor', async () => {
    await using local = openLocal()
    const bytes = Buffer.alloc(300_000, 'content ')
    const command = run(local.attendant, 'cat <&9 | cksum; ls /proc/$$/fd', { content: { descriptor: 9, bytes } })
    const same = run(local.attendant, 'cksum', { hasInput: true })
    same.command.stdin?.end(bytes)
    await Promise.all([command.result, same.result])
    expect(command.stdout()).toBe(`${same.stdout()}0\n1\n2\n9\n`)
  })

  it('leaves a command no descriptor but its streams', async () => {
    await using local = openLocal()
    const neighbours = [1, 2, 3].map(() => run(local.attendant, 'sleep 60', { hasInput: true }))
    const command = run(local.attendant, 'ls /proc/$$/fd', { hasInput: true })
    command.command.stdin?.end()
    await command.result
    expect(command.stdout()).toBe('0\n1\n2\n')
    // and no keeper holds a stream of another command
    for (const one of neighbours) one.command.end()
    await Promise.all(neighbours.map(({ result }) => result))
    const eof = run(local.attendant, 'cat', { hasInput: true })
    const beside = run(local.attendant, 'sleep 60')
    await beside.command.begun
    eof.command.stdin?.end()
    expect(await eof.result).toMatchObject({ status: 0 })
    beside.command.end()
    await beside.result
  })

  it('is closed to commands of the same user: its streams and memory, and those of keepers', async () => {
    await using local = openLocal()
    const { pid } = local.child
    const script = `keeper=$PPID; for one in ${pid} $keeper; do
      for part in fd/0 fd/1 fd/3 mem environ; do (exec 5<>/proc/$one/$part) 2>/dev/null && echo "open $one $part"; done; done; echo looked`
    const command = run(local.attendant, script, { argv: ['bash', '-c', script] })
    await command.result
    expect(command.stdout()).toBe('looked\n')
  })

  it('that a command kills is lost, with an end for every command', async () => {
    await using local = openLocal()
    const name = mark()
    const other = run(local.attendant, `sleep ${name}`)
    await other.command.begun
    const killer = run(local.attendant, `kill -9 ${local.child.pid}; sleep ${name}`)
    expect(await other.result).toEqual({ lost: true, survivors: true })
    expect(await killer.result).toMatchObject({ lost: true })
    const late = run(local.attendant, 'true')
    expect(await late.result).toMatchObject({ lost: true })
    await expect(late.command.begun).rejects.toMatchObject({ code: 'EIO' })
    // keepers see the end, and end their commands
    await until(() => processesWith(name).length === 0)
  })

  it('ends the tree of a command that kills its keeper', async () => {
    await using local = openLocal()
    const [name, kept] = [mark(), mark()]
    const other = run(local.attendant, `sleep ${kept}`)
    await other.command.begun
    const command = run(local.attendant, `kill -9 $PPID; sleep ${name} & sleep ${name}`)
    expect(await command.result).toEqual({ lost: true, survivors: false })
    expect(processesWith(name)).toEqual([])
    expect(processesWith(`sleep ${kept}`).length).toBeGreaterThan(0)
    // one that only stops it does not keep it from its end
    const stopper = run(local.attendant, `kill -STOP $PPID; echo stopped; sleep ${name}`)
    await until(() => stopper.stdout() === 'stopped\n')
    stopper.command.end()
    expect(await stopper.result).toEqual({ signal: 'SIGKILL', survivors: false })
    expect(await run(local.attendant, 'true').result).toMatchObject({ status: 0 })
    other.command.end()
    await other.result
  })

  it('ends with the stream of its host, and with it all commands', async () => {
    const name = mark()
    {
      await using local = openLocal()
      const command = run(local.attendant, `setsid sleep ${name} & sleep ${name}`)
      await until(() => processesWith(`sleep ${name}`).length > 1)
      local.child.stdin.end()
      expect(await command.result).toMatchObject({ lost: true })
    }
    expect(processesWith(name)).toEqual([])
  })

  it('makes terminals: size, input, signals of the foreground, all output and the status', async () => {
    await using local = openLocal()
    const terminal = { columns: 90, rows: 30 }
    const script = 'stty size; echo started; read -r word; stty size; echo "got $word"; seq 1 2000; exit 7'
    const command = run(local.attendant, script, { terminal })
    await until(() => command.stdout().includes('started\r\n'))
    expect(command.command.resize?.(97, 29)).toBe(true)
    command.command.stdin?.write('word\r')
    expect(await command.result).toEqual({ status: 7, survivors: false })
    expect(command.stdout().startsWith('30 90\r\nstarted\r\nword\r\n29 97\r\ngot word\r\n1\r\n')).toBe(true)
    expect(command.stdout().endsWith('2000\r\n')).toBe(true)
    // a shell that has just forked can lose a SIGINT for its child
    const stopped = run(local.attendant, 'tty >/dev/null && echo on; exec sleep 60', { terminal })
    await until(() => stopped.stdout() === 'on\r\n')
    stopped.command.stdin?.write('\u0003')
    expect(await stopped.result).toEqual({ signal: 'SIGINT', survivors: false })
    const signalled = run(local.attendant, 'trap "echo usr; exit 4" USR1; echo on; while :; do sleep 0.01; done', {
      terminal,
    })
    await until(() => signalled.stdout() === 'on\r\n')
    signalled.command.signal('SIGUSR1', 'command')
    expect(await signalled.result).toMatchObject({ status: 4 })
    const hung = run(local.attendant, 'echo on; sleep 60', { terminal })
    await until(() => hung.stdout() === 'on\r\n')
    hung.command.signal('SIGHUP', 'everyone')
    expect(await hung.result).toMatchObject({ signal: 'SIGHUP' })
  })

  it('filters system calls, and runs no command without its filter', async () => {
    await using local = openLocal()
    const script = 'cp /bin/true "$D/x" && chmod u+s "$D/x"; echo $?; rm -rf "$D"'
    const directory = { D: mkdtempSync(join(tmpdir(), 'ws-filter-')) }
    give(directory.D)
    const command = run(local.attendant, script, { env: directory, filter: sandboxProgram() })
    await command.result
    expect(command.stdout()).toBe('1\n')
    const broken = run(local.attendant, 'true', { filter: new Uint8Array(8) })
    await expect(broken.result).rejects.toMatchObject({ code: 'ENOEXEC', reason: expect.stringContaining('filter') })
  })

  it('sets limits of processes', async () => {
    await using local = openLocal()
    const command = run(local.attendant, 'ulimit -n; ulimit -f; ulimit -Ht', {
      limits: ['7 64 64', '1 1024 1024', '0 5 6'],
    })
    await command.result
    expect(command.stdout()).toBe('64\n2\n6\n')
  })

  it('counts no limit of a command against its own text', async () => {
    await using local = openLocal()
    const content = { descriptor: 9, bytes: Buffer.alloc(200_000, 'a') }
    const command = run(local.attendant, 'wc -c <&9', { limits: ['1 65536 65536', '7 16 16'], content })
    expect(await command.result).toMatchObject({ status: 0 })
    expect(command.stdout()).toBe('200000\n')
  })

  it('leaves no descriptor and no process behind', async () => {
    await using local = openLocal()
    const { pid = 0 } = local.child
    await run(local.attendant, 'true').result
    const before = readdirSync(`/proc/${pid}/fd`).length
    for (let i = 0; i < 30; i++) await run(local.attendant, 'echo x; sleep 0 & true', { hasInput: i % 2 === 0 }).result
    expect(readdirSync(`/proc/${pid}/fd`)).toHaveLength(before)
    await until(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8') === '')
  })
})
