import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

const root = join(import.meta.dirname, '../..')
export const dist = join(root, '.vitepress/dist')

/** Builds the site as its script does. */
export async function buildSite(): Promise<void> {
  await promisify(execFile)(process.execPath, ['--conditions=@ws/source', 'src/build.ts'], { cwd: root })
}

export interface Served extends AsyncDisposable {
  readonly url: string
}

/** Serves a directory as the hosts of static sites do: `/a` is `a.html`, and text is compressed. */
export async function serve(directory: string): Promise<Served> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://host').pathname))
    const file = path.endsWith('/') ? `${path}index.html` : extname(path) === '' ? `${path}.html` : path
    readFile(join(directory, file)).then(
      (body) => {
        const type = types[extname(file)]
        const packed = type === undefined ? body : gzipSync(body)
        response.writeHead(200, {
          'content-type': type ?? 'application/octet-stream',
          'content-length': packed.length,
          ...(type === undefined ? {} : { 'content-encoding': 'gzip' }),
        })
        response.end(packed)
      },
      () => response.writeHead(404).end(),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
