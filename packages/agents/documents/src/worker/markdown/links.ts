import { once } from 'node:events'
import { RewritingStream } from 'parse5-html-rewriting-stream'

const links: Readonly<Record<string, string>> = {
  a: 'href',
  img: 'src',
  area: 'href',
  video: 'src',
  audio: 'src',
  source: 'src',
}

/** Makes links absolute. The first `<base>` decides, as in a browser. */
export async function resolveLinks(html: string, url: string): Promise<string> {
  const stream = new RewritingStream()
  let base = url
  let hasBase = false
  stream.on('startTag', (tag, raw) => {
    const { tagName, attrs } = tag
    const name = tagName === 'base' ? 'href' : links[tagName]
    const attribute = attrs.find((one) => one.name === name)
    const resolved = attribute && URL.parse(attribute.value, base)?.href
    if (attribute === undefined || resolved === undefined) return void stream.emitRaw(raw)
    if (tagName === 'base') {
      if (!hasBase) base = resolved
      hasBase = true
      return void stream.emitRaw(raw)
    }
    attribute.value = resolved
    stream.emitStartTag(tag)
  })
  const parts: string[] = []
  stream.on('data', (part: string) => parts.push(part))
  stream.end(html)
  await once(stream, 'end')
  return parts.join('')
}
