import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { isWorkspaceError } from '@ws/core'
import { expect, it, onTestFinished } from 'vitest'

import { leastDialect } from '../src/dialect.ts'
import { createS3Adapter } from '../src/index.ts'
import { at } from './support.ts'

/** A store that answers DELETE as OpenStack Swift does: 204, with a type and without content. */
async function startSwift() {
  const objects = new Map([['a', 'x']])
  let deleteStatus = 204
  const server = createServer((request, response) => {
    const { pathname } = new URL(`http://swift${request.url ?? ''}`)
    const key = decodeURIComponent(pathname.slice('/bucket/'.length))
    const etag = (text: string): string => `"${createHash('md5').update(text).digest('hex')}"`
    const xml = { 'content-type': 'application/xml' }
    const from = request.headers['x-amz-copy-source']
    request.resume()
    if (request.method === 'DELETE') {
      if (deleteStatus === 204) objects.delete(key)
      return void response.writeHead(deleteStatus, { 'content-type': 'text/html; charset=UTF-8' }).end()
    }
    if (key === '') {
      const name = '<Name>bucket</Name><IsTruncated>false</IsTruncated><KeyCount>0</KeyCount>'
      return void response.writeHead(200, xml).end(`<ListBucketResult>${name}</ListBucketResult>`)
    }
    if (request.method === 'PUT' && typeof from === 'string') {
      const source = objects.get(decodeURIComponent(from).replace(/^\/?bucket\//u, '')) ?? ''
      objects.set(key, source)
      const result = `<CopyObjectResult><ETag>${etag(source)}</ETag></CopyObjectResult>`
      return void response.writeHead(200, xml).end(result)
    }
    const found = objects.get(key)
    if (found === undefined) return void response.writeHead(404, xml).end()
    const modified = { 'last-modified': new Date(0).toUTCString(), 'content-length': found.length }
    response.writeHead(200, { etag: etag(found), ...modified }).end(request.method === 'HEAD' ? '' : found)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const adapter = await createS3Adapter({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    bucket: 'bucket',
    dialect: leastDialect,
  })
  onTestFinished(async () => {
    await adapter.close()
    server.close()
    server.closeAllConnections()
  })
  return { adapter, objects, answerWith: (status: number) => (deleteStatus = status) }
}

it('takes a DELETE that is answered with 204 and the type of a page for done', async () => {
  const { adapter, objects } = await startSwift()
  await adapter.delete(at('/a'))
  expect([...objects.keys()]).toEqual([])
  objects.set('b', 'y')
  await adapter.move(at('/b'), at('/c'))
  expect([...objects]).toEqual([['c', 'y']])
})

it('takes a DELETE that is answered with 200 and a page for not done', async () => {
  const { adapter, answerWith } = await startSwift()
  answerWith(200)
  const error = await adapter.delete(at('/a')).catch((thrown: unknown) => thrown)
  expect(isWorkspaceError(error)).toBe(true)
})
