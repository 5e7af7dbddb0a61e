import { PutObjectCommand } from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { keptWrites } from '../src/headers/metadata.ts'
import { at, Bench, encode, tagsOn, text, type Interceptor } from './support.ts'

/** The server acts, and its answer never comes. */
const lostAnswer = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `conditions on ${name}`, { tags: tagsOn(name) }, () => {
    let bench: Bench
    beforeAll(async () => {
      bench = await Bench.open(name)
    })
    beforeEach(() => {
      bench.interceptor = (_, send) => send()
    })
    afterAll(() => bench.close())

    /** Loses the first answer to a PUT, after `meanwhile`. */
    const losing = (meanwhile: () => Promise<unknown> = () => Promise.resolve()): Interceptor => {
      let lost = false
      return async ({ name: sent }, send) => {
        const answer = await send()
        if (sent !== 'PutObject' || lost) return answer
        lost = true
        await meanwhile()
        throw lostAnswer()
      }
    }

    it('a lost answer is not taken for a lost race: create and update', async () => {
      const adapter = await bench.adapter()
      bench.interceptor = losing()
      const { version } = await adapter.write(at('/a'), encode('1'), { ifVersion: 'absent' })
      expect(version).toBe((await adapter.stat(at('/a'))).version)
      bench.interceptor = losing()
      const second = await adapter.write(at('/a'), encode('2'), { ifVersion: version })
      expect(second.version).toBe((await adapter.stat(at('/a'))).version)
      expect(await text(adapter, '/a')).toBe('2')
    })

    it.each(['copy', 'move'] as const)('a %s that is sent again takes no other version', async (operation) => {
      const prefix = bench.prefix()
      const adapter = await bench.adapter({ prefix })
      const { version: ifSource } = await adapter.write(at('/a'), encode('1'))
      let isSent = false
      bench.interceptor = async ({ name: sent }, send) => {
        if (sent !== 'CopyObject' || isSent) return send()
        isSent = true
        const other = new PutObjectCommand({ Bucket: bench.server.bucket, Key: `${prefix}/a`, Body: '2' })
        await bench.server.client().send(other)
        throw lostAnswer()
      }
      const running = adapter[operation](at('/a'), at('/b'), { ifSource, overwrite: true })
      await expect(running).rejects.toMatchObject({ code: 'ECONFLICT', path: '/a' })
      await expect(adapter.stat(at('/b'))).rejects.toMatchObject({ code: 'ENOENT' })
      expect(await text(adapter, '/a')).toBe('2')
    })

    // where the store checks conditions of deletes, a delete does not wait for writers
    it.each([
      ['one', true],
      ['a tree', true],
      ['one', false],
      ['a tree', false],
      ['a version', false],
    ] as const)(
      'a new file is not written again after a delete: %s (conditional deletes: %s)',
      async (what, conditionalDelete) => {
        const prefix = bench.prefix()
        const options = { prefix, dialect: { ...bench.dialect, conditionalDelete } }
        const [adapter, other] = [await bench.adapter(options), await bench.adapter(options)]
        await adapter.createDirectory(at('/d'))
        let deleting: Promise<void> | undefined
        bench.interceptor = losing(async () => {
          const { version } = await other.stat(at('/d/new'))
          if (what === 'a tree') deleting = other.delete(at('/d'), { recursive: true })
          else deleting = other.delete(at('/d/new'), { ifVersion: what === 'a version' ? version : undefined })
          if (conditionalDelete) await deleting
          // a delete that waits for the write comes after it
          else await Promise.race([deleting, new Promise((resolve) => setTimeout(resolve, 300))])
        })
        const told = await adapter.write(at('/d/new'), encode('1')).then(
          () => 'written',
          (error: unknown) => (error as { reason: string }).reason,
        )
        await deleting
        if (conditionalDelete) expect(told).toContain('may have been written')
        else expect(told).toBe('written')
        await expect(other.stat(at('/d/new'))).rejects.toMatchObject({ code: 'ENOENT' })
      },
    )

    it.each(['one', 'a tree'] as const)('a delete of %s waits for a move onto what it deletes', async (what) => {
      const prefix = bench.prefix()
      const [adapter, other] = [await bench.adapter({ prefix }), await bench.adapter({ prefix })]
      await adapter.write(at('/a'), encode('1'))
      const { version: ifDestination } = await adapter.write(at('/d/b'), encode('2'), { parents: true })
      let deleting: Promise<void> | undefined
      bench.interceptor = async ({ name: sent }, send) => {
        const isCopy = sent === 'CopyObject' || sent === 'PutObject'
        if (!isCopy || deleting !== undefined) return send()
        // the destination was looked at: a later delete comes after the move, or the move is refused
        deleting = what === 'one' ? other.delete(at('/d/b')) : other.delete(at('/d'), { recursive: true })
        await Promise.race([deleting, new Promise((resolve) => setTimeout(resolve, 300))])
        return send()
      }
      const moved = await adapter.move(at('/a'), at('/d/b'), { ifDestination, overwrite: true }).then(
        () => true,
        () => false,
      )
      await deleting
      const isThere = await adapter.stat(at('/d/b')).then(
        () => true,
        () => false,
      )
      expect({ moved, isThere }).toEqual({ moved, isThere: false })
    })

    it('nor when somebody built on the write before its answer was missed', async () => {
      const prefix = bench.prefix()
      const [adapter, other] = [await bench.adapter({ prefix }), await bench.adapter({ prefix })]
      const { version } = await adapter.write(at('/a'), encode('1'))
      bench.interceptor = losing(async () => {
        const { stat } = await other.read(at('/a'))
        await other.write(at('/a'), encode('3'), { ifVersion: stat.version })
      })
      await expect(adapter.write(at('/a'), encode('2'), { ifVersion: version })).resolves.toMatchObject({ size: 1 })
      expect(await text(adapter, '/a')).toBe('3')
    })

    it('nor when so many built on it that its mark is gone: then nobody can tell, and nothing is claimed', async () => {
      const prefix = bench.prefix()
      const [adapter, other] = [await bench.adapter({ prefix }), await bench.adapter({ prefix })]
      const raise = async (times: number): Promise<void> => {
        for (let index = 0; index < times; index += 1) {
          const { stat } = await other.read(at('/a'))
          await other.write(at('/a'), encode(`other ${index}`), { ifVersion: stat.version })
        }
      }
      const { version } = await adapter.write(at('/a'), encode('1'))
      bench.interceptor = losing(() => raise(keptWrites + 1))
      await expect(adapter.write(at('/a'), encode('2'), { ifVersion: version })).rejects.toMatchObject({
        code: 'EIO',
        reason: expect.stringContaining('may have been written'),
      })
      expect(await text(adapter, '/a')).toBe(`other ${keptWrites}`)

      // as long as the state before is named, the fate is known
      const { version: again } = await adapter.write(at('/a'), encode('1'))
      let failed = false
      bench.interceptor = async ({ name: sent }, send) => {
        if (sent !== 'PutObject' || failed) return send()
        failed = true
        await raise(keptWrites - 2)
        throw lostAnswer()
      }
      await expect(adapter.write(at('/a'), encode('2'), { ifVersion: again })).rejects.toMatchObject({
        code: 'ECONFLICT',
      })
    })

    it('and a race that was lost is ECONFLICT, also after an answer that was lost before the server acted', async () => {
      const adapter = await bench.adapter()
      const { version } = await adapter.write(at('/a'), encode('1'))
      let failed = false
      bench.interceptor = async ({ name: sent }, send) => {
        if (sent !== 'PutObject' || failed) return send()
        failed = true
        await adapter.write(at('/a'), encode('2'), { ifVersion: version })
        throw lostAnswer()
      }
      await expect(adapter.write(at('/a'), encode('3'), { ifVersion: version })).rejects.toMatchObject({
        code: 'ECONFLICT',
      })
      expect(await text(adapter, '/a')).toBe('2')
    })

    it.each(['*', '"*"', 'a"b', 'a, b', 'a\r\nx-evil: 1', '', 'absent-not', 'directory', 'x'.repeat(5000)])(
      'what no server gave as a version never holds: %j',
      async (ifVersion) => {
        const adapter = await bench.adapter()
        await adapter.write(at('/a'), encode('1'))
        for (const attempt of [
          () => adapter.write(at('/a'), encode('2'), { ifVersion }),
          () => adapter.read(at('/a'), { ifVersion }),
          () => adapter.delete(at('/a'), { ifVersion }),
          () => adapter.move(at('/a'), at('/b'), { ifSource: ifVersion }),
          () => adapter.copy(at('/a'), at('/b'), { ifDestination: ifVersion }),
        ]) {
          await expect(attempt()).rejects.toMatchObject({ code: 'ECONFLICT' })
        }
        expect(await text(adapter, '/a')).toBe('1')
      },
    )

    it('a counter that 5 writers raise 50 times by compare-and-swap ends at 50', { timeout: 120_000 }, async () => {
      const prefix = bench.prefix()
      const adapters = [await bench.adapter({ prefix }), await bench.adapter({ prefix })]
      await adapters[0]?.write(at('/counter'), encode('0'))
      let left = 50
      const raise = async (index: number): Promise<void> => {
        const adapter = adapters[index % 2]
        while (adapter !== undefined && left > 0) {
          left -= 1
          for (;;) {
            const { bytes, stat } = await adapter.read(at('/counter'))
            const next = `${Number(Buffer.from(bytes).toString()) + 1}`
            try {
              await adapter.write(at('/counter'), encode(next), { ifVersion: stat.version })
              break
            } catch (error) {
              expect(error).toMatchObject({ code: 'ECONFLICT' })
            }
          }
        }
      }
      await Promise.all([0, 1, 2, 3, 4].map(raise))
      expect(await text(adapters[0] as NonNullable<(typeof adapters)[0]>, '/counter')).toBe('50')
    })

    it('20 appends at once lose nothing', { timeout: 60_000 }, async () => {
      const adapter = await bench.adapter()
      const append = async (index: number) => adapter.append?.(at('/log'), encode(`${index}\n`))
      await Promise.all(Array.from({ length: 20 }, (_, index) => append(index)))
      const lines = (await text(adapter, '/log')).trim().split('\n').map(Number)
      expect(lines.toSorted((a, b) => a - b)).toEqual([...Array(20).keys()])
    })
  })
}
