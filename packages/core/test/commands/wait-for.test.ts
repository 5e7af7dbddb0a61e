import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutputLog } from '../../src/commands/sessions/output-log.ts'
import { waitFor } from '../../src/commands/sessions/wait-for.ts'

/** An output that grows when a test says so. */
class Output {
  readonly log = new OutputLog(1 << 20)
  readonly #listeners = new Set<() => void>()
  #ended = false

  add(text: string): void {
    this.log.push(Buffer.from(text))
    for (const listener of this.#listeners) listener()
  }

  end(): void {
    this.#ended = true
    this.log.finish()
    for (const listener of this.#listeners) listener()
  }

  wait(pattern: string | RegExp, since = 0): ReturnType<typeof waitFor> {
    const onChange = (listener: () => void) => {
      this.#listeners.add(listener)
      return () => this.#listeners.delete(listener)
    }
    return waitFor({ log: this.log, onChange, ended: () => this.#ended, begin: () => since }, pattern, {})
  }
}

describe('waiting for output', () => {
  it('finds a text wherever the output is cut, with what came before and where it goes on', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b', 'é', '😀', '\n', 'ab\n'), { minLength: 1, maxLength: 30 }),
        fc.nat(3),
        async (pieces, since) => {
          const whole = `xyz${pieces.join('')}end`
          const output = new Output()
          const waits = [output.wait('end', since), output.wait(/e(n)d/, since)]
          output.add('xyz')
          for (const piece of pieces) {
            output.add(piece)
            await new Promise((resolve) => setTimeout(resolve, 0))
          }
          output.add('end')
          for (const found of await Promise.all(waits)) {
            expect(found).toMatchObject({
              match: 'end',
              before: whole.slice(since, -3),
              next: Buffer.byteLength(whole),
            })
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  it('finds what came long ago at once, also in an output that came as a whole', async () => {
    const output = new Output()
    output.add(`${'x'.repeat(50_000)}\nfirst\n${'line é\n'.repeat(50_000)}last`)
    const first = await output.wait(/^(first)$/m)
    expect(first).toMatchObject({ groups: ['first'], next: 50_006 })
    expect(first.before).toHaveLength(50_001)
    expect((await output.wait('last')).next).toBe(output.log.end)
    expect((await output.wait(/last$/)).next).toBe(output.log.end)
  })

  it('does not take the end of a piece of a large output for its end, nor a piece for its beginning', async () => {
    const output = new Output()
    output.add('$ x\n'.repeat(20_000))
    const prompt = output.wait(/\$ $/)
    const beginning = output.wait(/^x/)
    output.end()
    await expect(prompt).rejects.toMatchObject({ code: 'ECLOSED' })
    await expect(beginning).rejects.toMatchObject({ code: 'ECLOSED' })
  })

  it('finds what begins within 4,096 bytes, and lets others have their turn', async () => {
    const output = new Output()
    const near = output.wait(/start[^]*end/)
    output.add(`start${'x'.repeat(4000)}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    output.add('end')
    await expect(near).resolves.toMatchObject({ next: 4008 })

    // Each piece takes the square of its length, and there are many.
    output.add('a'.repeat(40_000))
    let turns = 0
    const timer = setInterval(() => (turns += 1), 0)
    const slow = output.wait(/a[^]*b/)
    output.end()
    await expect(slow).rejects.toMatchObject({ code: 'ECLOSED' })
    clearInterval(timer)
    expect(turns).toBeGreaterThan(8)
  })
})
