import type { Mutations } from '../types.ts'

export const networkMutations: Mutations = {
  'DNS as a channel: labels, TXT, long names, queries to other servers': [
    {
      removes: 'the bound on names below a wildcard',
      text: 'const mostNames = 4096',
      by: 'const mostNames = 60_000',
      title: 'no endless supply',
    },
  ],
  'an address in place of a name: IPv4, IPv6, mapped, `localhost`, metadata': [
    {
      removes: 'the network namespace',
      text: "return typeof network === 'object' ? enterArguments(network) : []",
      by: 'return []',
      title: 'are reached by programs',
    },
  ],
  'a listed name whose address is private, or another one at the second look (rebinding)': [
    {
      removes: 'the check of addresses',
      text: 'isPublicAddress(address) || permits(address)',
      by: 'isPublicAddress(address) || address.length > 0',
      title: 'leads to an address of this machine',
    },
    {
      removes: 'the dial of what was checked',
      text: 'const socket = await dialAddress(address, at, signal)',
      by: 'const socket = await dialAddress(String((await check.resolve(host, port))[0] ?? address), at, signal)',
      title: 'whatever the name says later',
    },
  ],
  'HTTP for another host: `Host`, a whole URL, CONNECT, a second request, one hidden in a body, `Upgrade`': [
    {
      removes: 'the look at the whole first line',
      file: 'packages/kernel/network/src/gate/stream-door.ts',
      text: "return bytes.length > longestLine ? 'endless' : 'more'",
      by: "return bytes.length < 0 ? 'endless' : 'other'",
      title: 'comes in pieces',
    },
    {
      removes: 'the strict parser',
      text: 'insecureHTTPParser: false',
      by: 'insecureHTTPParser: true',
      title: 'two lengths',
    },
  ],
  'another protocol: UDP, ICMP, raw and packet sockets, netlink, abstract sockets': [
    {
      removes: 'the families of sockets',
      text: 'return [loadArgument(0), ...known, answer(refuse(EAFNOSUPPORT))]',
      by: 'return [loadArgument(0), ...known, answer(allow)]',
      title: 'end inside',
    },
  ],
  'a sandbox that floods or holds the gate: connections, slow bodies, endless headers, bytes': [
    {
      removes: 'the turns of the requests of a connection',
      text: 'if (!line.isBusy) begin()',
      by: 'if (size > 0) begin()',
      title: 'one request of a connection at a time',
    },
    {
      removes: 'the bound of certificates that are kept',
      text: 'const mostKept = 256',
      by: 'const mostKept = 2560',
      title: 'in little time, and keeps few',
    },
  ],
  'a host that the executor lists, and that a rule of the workspace closes': [
    {
      removes: 'the refusal of commands that share the network of the machine',
      text: "field === 'network' ? 'names'",
      by: "field === 'network' ? 'none'",
      title: 'refuses commands that share',
    },
  ],
  'a credential for a host: looked for in the sandbox, sent to another host, over cleartext, or to one that does not prove its name':
    [
      {
        removes: 'the refusal of cleartext',
        text: '!isSecure && Object.keys',
        by: 'isSecure === undefined && Object.keys',
        title: 'no credential on cleartext',
      },
      {
        removes: 'the check of the certificate of the host',
        text: "minVersion: 'TLSv1.2',",
        by: "minVersion: 'TLSv1.2',\n      rejectUnauthorized: false,",
        title: 'does not prove its name',
      },
      {
        removes: 'the order of headers, by which the rule wins',
        text: '{ ...own, ...headers,',
        by: '{ ...headers, ...own,',
        title: 'get the credential on their way',
      },
      {
        removes: 'the check of what a function gave',
        text: 'isHeaderValue(value)) ?',
        by: 'value !== undefined) ?',
        title: 'fail where the credential cannot be had',
      },
    ],
  'a request that no rule of its host allows: another method or path, a path that can be read in two ways, one behind an allowed one, one under a wider entry':
    [
      {
        removes: 'the refusal of dots in a path',
        text: 'return dots ? ',
        by: "return dots && text === '' ? ",
        title: 'could be read as another one',
      },
      {
        removes: 'the refusal of bytes that are not text',
        text: '? badBytes :',
        by: '? String.fromCharCode(byte) :',
        test: 'packages/kernel/network/test/requests/judge.test.ts',
        title: 'does not let /open/a%01b pass',
      },
      {
        removes: 'the comparison of every reading',
        text: 'others.some((other) => other !== rule)',
        by: 'others.length < 0',
        test: 'packages/kernel/network/test/requests/judge.test.ts',
        title: 'does not let /users/me%2fkeys pass',
      },
      {
        removes: 'the look for an entry with rules below a wider one',
        text: 'this.#list = new hostLists.List(ruled',
        by: 'this.#list = new hostLists.List(entries',
        title: 'whatever other entries there are',
      },
    ],
  "a request whose path takes a rule's pattern long to compare": [
    {
      removes: 'the automaton, in whose place an expression goes back',
      text: "return text.startsWith('/') && glob.matches(named(text))",
      by: "return glob.cost >= 0 && new RegExp(`^${pattern.replaceAll('\u0002', '[^/]*').replaceAll('\u0003', '.*')}$`, 'u').test(text)",
      title: 'time that does not multiply',
    },
  ],
  'a request that is read in two ways: `Connection` names its length, its coding or a header of a rule; a length behind more headers than Node keeps; a coding beside chunks':
    [
      {
        removes: 'the keeping of headers that `Connection` names',
        changes: [
          { text: 'endToEnd({ rawHeaders }: ', by: 'endToEnd({ rawHeaders, headers }: ' },
          {
            text: 'if (hopByHop.has(key)) continue',
            by: "if (hopByHop.has(key) || headers.connection?.toLowerCase().split(', ').includes(key)) continue",
          },
        ],
        title: 'is kept where `Connection` names it',
      },
    ],
  'an answer of a host that ends this process: a status such as 099, a control byte in the reason, a 101 that was not asked for, odd headers and frames; a tunnel that a command asks for behind another request':
    [
      {
        removes: 'the range of a status',
        text: '!isStatus(incoming.statusCode) || !copyHead',
        by: '!isStatus(200) || !copyHead',
        test: 'packages/kernel/network/test/gate/answers.test.ts',
        title: 'come through where HTTP allows them',
      },
      {
        removes: 'the leaving out of the reason',
        text: 'response.writeHead(incoming.statusCode ?? 0, {',
        by: 'response.writeHead(incoming.statusCode ?? 0, incoming.statusMessage, {',
        test: 'packages/kernel/network/test/gate/answers.test.ts',
        title: 'come through where HTTP allows them',
      },
      {
        removes: 'the range of a status, for a download',
        text: '!isStatus(incoming.statusCode) || !copyHead',
        by: '!isStatus(200) || !copyHead',
        test: 'packages/agents/download/test/answers.test.ts',
        title: 'come through where HTTP allows them',
      },
    ],
  'a script of the interpreter whose download ends this process: a time that no timer takes, a message that its thread never sends':
    [
      {
        removes: 'the range of timers',
        text: 'Math.min(Math.ceil(timeout), longestTimer)',
        by: 'timeout',
        title: 'takes the time',
      },
    ],
  'the authority that programs trust, used for other hosts': [
    {
      removes: 'the limit of its certificate',
      text: 'const permitted = names.map',
      by: "const permitted = [...names, 'test'].map",
      title: 'speaks for its hosts alone',
    },
  ],
  'a tool that downloads from a host that commands may not reach: beside the list, past a rule, by a redirect, by the second client, over Tor, by a downloader that leaves the question out':
    [
      {
        removes: 'the question before Tor is asked',
        text: "if (verdict.effect === 'deny') throw",
        by: "if (verdict.effect === 'deny' && transfer.identity === undefined) throw",
        title: 'meet the same judgement',
      },
      {
        removes: 'the question at a redirect',
        file: 'packages/agents/download/src/downloader.ts',
        text: 'this.#ask(url, { ...following, tor })',
        by: 'this.#ask(url, { ...following, tor, ...(url !== first && { connections: undefined }) })',
        title: 'a redirect to an unlisted host',
      },
      {
        removes: 'the judgement of the last URL',
        text: 'admit(download.url)',
        by: 'asks = false',
        title: 'follows a redirect by itself',
      },
      {
        removes: 'the events',
        text: "report: (report) => recordConnection(context, report, { door: 'files', path }),",
        by: 'report: () => undefined,',
        title: 'with an event for each',
      },
    ],
  'a way out where commands have none: the tool `download` of a model, an MCP client or a step of a plan': [
    {
      removes: 'the refusal of a call that is made all the same',
      changes: [
        {
          file: 'packages/kernel/core/src/commands/explain-connection.ts',
          text: "if (level === 'none') return { effect: 'allow' }",
          by: "if (level !== 'names') return { effect: 'allow' }",
        },
        {
          text: "if (hosts === undefined && network !== 'names' && network !== 'none') return undefined",
          by: 'if (hosts === null) return undefined',
        },
      ],
      title: 'is not offered',
    },
    {
      removes: 'the event of a call that was not offered',
      text: '  workspace.connections({ path }).report({',
      by: '  void ({',
      title: 'no face offers them',
    },
  ],
  'a host with rules for requests, asked by a tool that knows no such rules': [
    {
      removes: 'the word of the executor',
      text: 'const judgesRequests = requests?.of(host, port) !== undefined',
      by: 'const judgesRequests = requests === null',
      title: 'says that its requests have rules',
    },
    {
      removes: 'the refusal of the tool',
      text: 'verdict.judgesRequests !== true',
      by: 'verdict.judgesRequests !== null',
      title: 'whose requests have rules',
    },
  ],
  'the helper that opens the sockets, led to another namespace': [
    {
      removes: 'the refusal of its own namespace',
      text: 'if ("@own[0, 1]" eq "@other[0, 1]") {',
      by: 'if (0) {',
      title: 'own network',
    },
    {
      removes: 'the comparison of the time of start',
      text: "if (($started // '') ne $start) {",
      by: 'if (!defined $started) {',
      title: 'no other process',
    },
  ],
  'a published Unix socket that a command exchanges, or a server that accepts nothing and so holds up other ports': [
    {
      removes: 'the origin of bind mounts',
      text: 'originOf(directory).startsWith(originOf(path))',
      by: 'path.length < 0',
      title: 'through a bind mount',
    },
    {
      removes: 'connections beside one another',
      text: '{ $connects{$id} = [$child, $to] }',
      by: '{ $connects{$id} = 1; finish($id, $child, $to) }',
      title: 'accepts nothing',
    },
  ],
}
