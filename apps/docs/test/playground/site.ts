import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const styles: Readonly<Record<string, string>> = {
  '/style.css': join(import.meta.dirname, '../../playground/style.css'),
  '/vars.css': fileURLToPath(import.meta.resolve('vitepress/dist/client/theme-default/styles/vars.css')),
  '/base.css': fileURLToPath(import.meta.resolve('vitepress/dist/client/theme-default/styles/base.css')),
}
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
}

/** The elements of `Playground.vue`, the way in which it loads the playground, and the styles of VitePress. */
const page = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Playground</title>
<link rel="icon" href="data:,">${Object.keys(styles)
  .map((style) => `<link rel="stylesheet" href="${style}">`)
  .join('')}
<main><h1>Playground</h1>
<div class="playground"><div id="place" class="playground-parts">loading</div></div></main>
<script type="module">
  const { mount } = await import('/playground/page.js')
  globalThis.leave = await mount(document.getElementById('place'), '/playground/')
</script>`

/** Serves a page with the playground on this machine. */
export async function serveSite(scripts: string): Promise<{ readonly url: string } & Disposable> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (pathname === '/') return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
    const file = styles[pathname] ?? join(scripts, pathname.replace('/playground/', '/'))
    if (!existsSync(file)) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' })
    return createReadStream(file).pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
