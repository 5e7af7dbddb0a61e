import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { S3StorageAdapter } from '../src/index.ts'
import { at, Bench, encode, failureOf, tagsOn, text } from './support.ts'

const lostAnswer = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
const unknown = { code: 'EIO', reason: expect.stringContaining('may have been'), changeId: expect.any(String) }

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `answers that are lost on ${name}`, { tags: tagsOn(name) }, () => {
    let bench: Bench
    let prefix: string
    let adapter: S3StorageAdapter
    let other: S3StorageAdapter
    beforeAll(async () => {
      bench = await Bench.open(name)
    })
    beforeEach(async () => {
      bench.interceptor = (_, send) => send()
      prefix = bench.prefix()
      adapter = await bench.adapter({ prefix })
      // as in another process, which does not wait for this one's writes
      other = await bench.adapter({ prefix, dialect: { ...bench.dialect, conditionalDelete: true } })
    })
    afterAll(() => bench.close())

    /** Loses the first answer to a request, when the server has acted, and after `meanwhile`. */
    const lose = (request: string, meanwhile: () => Promise<unknown> = async () => undefined, acts = true): void => {
      let lost = false
      bench.interceptor = async ({ name: sent }, send) => {
        if (sent !== request || lost) return send()
        lost = true
        if (acts) await send()
        await meanwhile()
        throw lostAnswer()
      }
    }
    /** A writer that looks first and then writes. */
    const swap = async (path: string, content: string): Promise<void> => {
      const { stat } = await other.read(at(path))
      await other.write(at(path), encode(content), { ifVersion: stat.version })
    }

    describe('a write without a condition', () => {
      it('is not sent again over what others have built on it', async () => {
        await adapter.write(at('/a'), encode('1'))
        lose('PutObject', () => swap('/a', 'swapped'))
        await expect(adapter.write(at('/a'), encode('2'))).resolves.toMatchObject({ size: 1 })
        expect(await text(adapter, '/a')).toBe('swapped')
      })

      it('is not sent again over what others wrote without looking, since nobody can tell', async () => {
        await adapter.write(at('/a'), encode('1'))
        lose('PutObject', () => bench.put(`${prefix}/a`, 'theirs'))
        expect(await failureOf(adapter.write(at('/a'), encode('2')))).toMatchObject(unknown)
        expect(await text(adapter, '/a')).toBe('theirs')
      })

      it('over a file that was not seen is sent again when its answer is lost before the store acted', async () => {
        await bench.put(`${prefix}/unseen`, 'theirs')
        let puts = 0
        bench.interceptor = async ({ name: sent }, send) => {
          // the first is a wrong guess, which the store refuses
          if (sent === 'PutObject' && (puts += 1) === 2) throw lostAnswer()
          return send()
        }
        await adapter.write(at('/unseen'), encode('mine'))
        expect([puts, await text(adapter, '/unseen')]).toEqual([3, 'mine'])
      })

      it('is sent again where it certainly has not happened, and replaces what came since only if it was seen', async () => {
        lose('PutObject', undefined, false)
        await adapter.write(at('/new'), encode('1'))
        expect(await text(adapter, '/new')).toBe('1')
        lose('PutObject', undefined, false)
        await adapter.write(at('/new'), encode('2'))
        expect(await text(adapter, '/new')).toBe('2')
        // between the look and the attempt
        let looked = false
        bench.interceptor = async ({ name: sent }, send) => {
          if (sent === 'PutObject' && !looked) throw lostAnswer()
          const answer = await send()
          if (sent === 'HeadObject' && !looked) {
            looked = true
            await bench.put(`${prefix}/new`, 'theirs')
          }
          return answer
        }
        expect(await failureOf(adapter.write(at('/new'), encode('3')))).toMatchObject(unknown)
        expect(await text(adapter, '/new')).toBe('theirs')
      })
    })

    describe('a write with a condition', () => {
      it.each(['delete', 'overwrite'])('whose file others %s is no conflict: nobody can tell', async (what) => {
        const { version } = await adapter.write(at('/a'), encode('1'))
        const meanwhile = () => (what === 'delete' ? bench.remove(`${prefix}/a`) : bench.put(`${prefix}/a`, 'theirs'))
        lose('PutObject', meanwhile)
        expect(await failureOf(adapter.write(at('/a'), encode('2'), { ifVersion: version }))).toMatchObject(unknown)
      })

      it('that creates, and whose file others overwrite, is no conflict either', async () => {
        lose('PutObject', () => bench.put(`${prefix}/b`, 'theirs'))
        expect(await failureOf(adapter.write(at('/b'), encode('2'), { ifVersion: 'absent' }))).toMatchObject(unknown)
        expect(await text(adapter, '/b')).toBe('theirs')
      })

      it('that was refused at once is a conflict', async () => {
        await other.write(at('/a'), encode('theirs'))
        const write = adapter.write(at('/a'), encode('2'), { ifVersion: 'absent' })
        await expect(write).rejects.toMatchObject({ code: 'ECONFLICT' })
      })
    })

    it('can be asked for later: by the id in the error, also by others', async () => {
      await adapter.write(at('/a'), encode('1'))
      bench.interceptor = async ({ name: sent }, send) => {
        if (sent === 'HeadObject')
          throw Object.assign(new Error('no'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } })
        const answer = await send()
        if (sent === 'PutObject') throw lostAnswer()
        return answer
      }
      const { changeId = '', remedy = '' } = await failureOf(adapter.write(at('/a'), encode('2')))
      expect(remedy).toContain(changeId)
      bench.interceptor = (_, send) => send()
      const { version } = await adapter.stat(at('/a'))
      expect(await adapter.resolve(changeId)).toEqual({ outcome: 'written', version })
      await swap('/a', '3')
      expect(await other.resolve(changeId)).toEqual({ outcome: 'written' })
      await bench.put(`${prefix}/a`, 'theirs')
      expect(await other.resolve(changeId)).toEqual({ outcome: 'unknown' })
      await expect(adapter.resolve('x')).rejects.toMatchObject({ code: 'EINVAL' })
    })

    describe('a delete', () => {
      it('does not take a file that was made meanwhile', async () => {
        await adapter.write(at('/a'), encode('1'))
        lose('DeleteObject', () => bench.put(`${prefix}/a`, 'theirs'))
        expect(await failureOf(adapter.delete(at('/a')))).toMatchObject(unknown)
        expect(await text(adapter, '/a')).toBe('theirs')
      })

      it('is repeated while the same file is there, and has succeeded when none is', async () => {
        await adapter.write(at('/a'), encode('1'))
        lose('DeleteObject', undefined, false)
        await adapter.delete(at('/a'))
        expect(await bench.keys(`${prefix}/a`)).toEqual([])
        await adapter.write(at('/a'), encode('1'))
        lose('DeleteObject')
        await adapter.delete(at('/a'))
      })

      it('of a directory does not take a file that was made meanwhile', async () => {
        for (const path of ['/d/a', '/d/b']) await adapter.write(at(path), encode('1'))
        lose('DeleteObjects', () => bench.put(`${prefix}/d/b`, 'theirs'))
        expect(await failureOf(adapter.delete(at('/d'), { recursive: true }))).toMatchObject({ code: 'EIO' })
        expect(await bench.keys(`${prefix}/d/`)).toEqual([`${prefix}/d/b`])
        lose('DeleteObjects', undefined, false)
        await adapter.delete(at('/d'), { recursive: true })
        expect(await bench.keys(`${prefix}/d/`)).toEqual([])
      })
    })

    it('a copy does not replace what others have put in its place', async () => {
      await adapter.write(at('/a'), encode('1'))
      await adapter.write(at('/b'), encode('old'))
      lose('CopyObject', () => bench.put(`${prefix}/b`, 'theirs'))
      expect(await failureOf(adapter.copy(at('/a'), at('/b'), { overwrite: true }))).toMatchObject(unknown)
      expect(await text(adapter, '/b')).toBe('theirs')
      await adapter.write(at('/b'), encode('old'))
      lose('CopyObject')
      await adapter.copy(at('/a'), at('/b'), { overwrite: true })
      lose('CopyObject', undefined, false)
      await adapter.copy(at('/a'), at('/b'), { overwrite: true })
      expect(await text(adapter, '/b')).toBe('1')
    })
  })
}
