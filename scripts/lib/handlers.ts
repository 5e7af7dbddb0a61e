import { globSync, readFileSync } from 'node:fs'

const sources = ['packages/{*,*/*}/src/**/*.ts', 'apps/{cli,mcp-server}/src/**/*.ts']
/** Files that write HTTP heads or send requests, which may throw for unusual values, with the reason why no throw ends the process. */
const writers: Readonly<Record<string, string>> = {
  'packages/kernel/network/src/gate/answers.ts':
    'heads of hosts are written by `copyHead`, which catches; other heads are our own',
  'packages/kernel/network/src/gate/http-door.ts': 'requests are made in async work whose failure ends the connection',
  'packages/agents/download/src/egress/proxy.ts': 'the same; the heads are our own',
  'packages/adapters/rclone/src/control/client.ts': 'the request is our own, and made in async work',
  'apps/mcp-server/src/http/answer.ts': 'heads of our own server, in async work whose failure is answered',
}
/** Code outside of the serving process: a kit for tests, and threads, whose errors appear as the end of the thread. */
const notServed = /\/conformance\/|\/worker\/main\.ts$/u
const asyncName = /async (?:function )?(#?\w+)[(<]|const (\w+) = async\b/gu

/** Places where an event could end the process: unhandled promises, HTTP outside {@link writers}, unhandled errors. */
export function unguardedHandlers(): readonly string[] {
  const files = sources.flatMap((pattern) => globSync(pattern)).filter((file) => !notServed.test(file))
  const texts = new Map(files.sort().map((file) => [file, readFileSync(file, 'utf8')] as const))
  const shared = new Map(
    [...texts.values()].flatMap((text) =>
      [...text.matchAll(/export async function (\w+)/gu)].map(([, name = '']) => [name, text]),
    ),
  )
  return [...texts].flatMap(([file, text]) => {
    const own = new Map([...text.matchAll(asyncName)].map(([, one, other]) => [one ?? other ?? '', text] as const))
    return text.split('\n').flatMap((line, index) => {
      const at = `${file}:${index + 1}: `
      if (/^\s*(?:\*|\/\/|\/\*)/u.test(line)) return []
      if (
        /\.(?:writeHead|setHeader)\(|\bsendRequest\(/u.test(line) &&
        !(file in writers) &&
        !text.includes("from 'undici'")
      )
        return `${at}throws at odd values; pass answers of hosts on with \`passAnswer\`, or list the file in scripts/lib/handlers.ts`
      if (/= create(?:Http)?Server\($/u.test(line) && !text.includes(".on('error', "))
        return `${at}a server without a listener for \`error\``
      const [, name = ''] = /\bvoid (?:this\.)?(#?\w+)\(/u.exec(line) ?? []
      const declared = own.get(name) ?? shared.get(name)
      if (declared === undefined || line.includes('.catch(') || neverRejects(declared, name)) return []
      return `${at}\`${name}\` may reject, and no caller sees it; add \`.catch(…)\`, or let its comment say that it never rejects`
    })
  })
}

const ignores = /\bcatch \{|(?:\.catch\(|'error', |\w, )\(\) => (?:undefined|false|true|null|''|\[\]|\w+)\)/u

/** Ignored errors without a reason, except planted faults. A function's name may be the reason. */
export function ignoredErrors(): readonly string[] {
  const files = sources.flatMap((pattern) => globSync(pattern)).filter((file) => !/\/src\/faults\//u.test(file))
  return files.sort().flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.flatMap((line, index) => {
      if (!ignores.test(line) || /^\s*(?:\*|\/\/|\/\*)/u.test(line)) return []
      const indent = ' '.repeat(line.search(/\S/u))
      const isBlock = line === `${indent}} catch {`
      const end = isBlock ? lines.indexOf(`${indent}}`, index) : index
      if (/\bthrow\b|\breject\(/u.test(lines.slice(index, end + 1).join(' '))) return []
      if (/(?:^|\s)(?:\/\/|\/\*|\*)/mu.test(lines.slice(Math.max(index - 5, 0), end + 1).join('\n'))) return []
      const head = lines[lines.lastIndexOf(`${indent}try {`, index) - 1] ?? ''
      const isAttempt = isBlock && lines[end + 1] === `${indent.slice(2)}}` && /(?:\)|>|\w) \{$/u.test(head)
      return isAttempt && !/\b(?:for|if|while|else)\b/u.test(head)
        ? []
        : `${file}:${index + 1}: why is this error ignored? Say so beside it`
    })
  })
}

/** True if the comment above the function's declaration says "Never rejects". */
function neverRejects(text: string, name: string): boolean {
  const lines = text.split('\n')
  const at = lines.findIndex((line) =>
    new RegExp(`async (?:function )?${name}[(<]|const ${name} = async`, 'u').test(line),
  )
  const comment = lines.slice(0, at).findLastIndex((line) => !/^\s*(?:\*|\/\/|\/\*)/u.test(line)) + 1
  return /ever rejects?\b/u.test(lines.slice(comment, at).join(' '))
}
