import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { at, bytes, failureOf, openSite } from './support.ts'

/** `F_SETLEASE` with `F_WRLCK`. The holder never gives it up; the kernel takes it away after 45 seconds. */
const holding = String.raw`
  $SIG{IO} = "IGNORE";
  for (@ARGV) { open my $file, "+<", $_ or die; fcntl($file, 1024, 1) or die "no lease: $!\n"; push @held, $file }
  $| = 1; print "held\n"; sleep 300;
`

/** Lets another process hold leases until the test is over. */
async function hold(...files: readonly string[]): Promise<void> {
  const holder = spawn('perl', ['-e', holding, ...files], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    const ended = once(holder, 'exit')
    holder.kill('SIGKILL')
    await ended
  })
  await once(holder.stdout, 'data')
}

describe.skipIf(process.platform !== 'linux')('a file that another process holds by a lease', () => {
  it('[HO6] is left out of a search by name, and the search does not wait for it', async () => {
    const { adapter, root } = await openSite()
    for (const name of ['a', 'held', 'z']) writeFileSync(join(root, name), 'the needle')
    await hold(join(root, 'held'))
    const leftOut: unknown[] = []
    const found: string[] = []
    const onUnreadable = (path: string, { code }: { readonly code: string }) => leftOut.push([path, code])
    for await (const { path } of adapter.search({ pattern: 'needle', in: at('/') }, { onUnreadable })) found.push(path)
    expect(found.toSorted()).toEqual(['/a', '/z'])
    expect(leftOut).toEqual([['/held', 'EBUSY']])
  })

  it('[HO6] is EBUSY by its name where it is read, copied or appended to, and is replaced', async () => {
    const { adapter, root } = await openSite()
    const content = 'x'.repeat(100_000) // copied by one call of the system
    for (const name of ['held', 'too']) writeFileSync(join(root, name), content)
    await hold(join(root, 'held'))
    const calls = [
      () => adapter.read(at('/held')),
      () => adapter.readStream(at('/held')),
      () => adapter.copy(at('/held'), at('/copy')),
      () => adapter.append(at('/held'), bytes('x')),
      () => Array.fromAsync(adapter.search({ pattern: 'x', in: at('/held') })),
    ]
    for (const call of calls) expect(await failureOf(call())).toMatchObject({ code: 'EBUSY', path: '/held' })
    await adapter.copy(at('/too'), at('/copy'))
    await adapter.write(at('/held'), bytes('new'))
    expect((await adapter.read(at('/held'))).bytes).toEqual(bytes('new'))
  })
})
