import { isWorkspaceError } from '@ws/core'
import { drawAnswer, drawFrom, oddAnswers, openOddServer, rounds } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { loadImpitClient } from '../src/client/impit.ts'
import { undiciClient } from '../src/client/undici.ts'
import { LiveDownloader } from '../src/downloader.ts'
import { collect, publicAddress } from './site.ts'

const impit = await loadImpitClient()
const clients = [...(impit === undefined ? [] : [impit]), undiciClient]

describe.each(clients)('answers of a server, by $name', (client) => {
  async function open() {
    const origin = await openOddServer(publicAddress)
    onTestFinished(() => origin[Symbol.asyncDispose]())
    const egress = {
      resolve: async () => [publicAddress],
      permits: (address: string) => address === publicAddress,
      ports: new Set([origin.port]),
      tor: undefined,
    }
    const downloader = new LiveDownloader({ idleTimeout: 10_000 }, { egress, clients: async () => [client] })
    onTestFinished(() => downloader.close())
    return {
      origin,
      async result(): Promise<number | string> {
        try {
          const { status, stream } = await downloader.open(`http://site.example:${origin.port}/`, {
            anyStatus: true,
            redirect: 'manual',
          })
          await collect(stream)
          return status
        } catch (error) {
          if (!isWorkspaceError(error)) throw error
          if (error.reason.endsWith('gave an answer that HTTP/1.1 does not allow')) return 'refused'
          return error.code === 'EIO' ? 'cut' : `${error.code}: ${error.reason}`
        }
      },
    }
  }

  it('[HO4] come through where HTTP allows them, and are an error where it does not', async () => {
    const { origin, result } = await open()
    for (const { name, result: expected, ...odd } of oddAnswers) {
      origin.answer = odd
      // the client that speaks as a browser does takes a hundred headers
      const isTooMuch = client.name === 'impit' && name === 'more headers than Node keeps'
      expect(await result(), name).toEqual(isTooMuch ? expect.stringMatching(/^EBACKEND: /) : expected)
    }
  })

  it('[HO4] at random leave the process alive, and each download ends', { tags: 'rounds' }, async () => {
    const { origin, result } = await open()
    for (const round of rounds({ quick: 60, seconds: 15 })) {
      origin.answer = drawAnswer(drawFrom(round))
      expect(String(await result()), `round ${round}`).toMatch(/^(?:[2-5]\d\d|refused|cut|EBACKEND: .*)$/)
    }
  })
})
