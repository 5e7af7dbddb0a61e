import type { Mutation } from './types.ts'

const inside = 'packages/executors/bubblewrap/test/network.test.ts'
const gateTest = 'packages/kernel/network/test/gate/gate.test.ts'
const requestsTest = 'packages/kernel/network/test/gate/requests.test.ts'
const curlTest = 'packages/executors/virtual/test/curl.test.ts'
const answersTest = 'packages/kernel/network/test/gate/answers.test.ts'
const framingTest = 'packages/kernel/network/test/gate/framing.test.ts'
const answersFile = 'packages/kernel/network/src/gate/answers.ts'
const headersFile = 'packages/kernel/network/src/gate/headers.ts'
const decideFile = 'packages/kernel/network/src/gate/decide.ts'
const judgeFile = 'packages/kernel/network/src/requests/judge.ts'
const judgeTest = 'packages/kernel/network/test/requests/judge.test.ts'
const pathFile = 'packages/kernel/network/src/requests/path.ts'
const httpDoor = 'packages/kernel/network/src/gate/http-door.ts'
const turns = 'packages/kernel/network/src/gate/turns.ts'
const passage = 'packages/kernel/network/src/gate/passage.ts'
const script = 'packages/executors/bubblewrap/src/network/listen.pl'

const dns = 'DNS as a channel: labels, TXT, long names, queries to other servers'
const address = 'an address in place of a name: IPv4, IPv6, mapped, `localhost`, metadata'
const rebinding = 'a listed name whose address is private, or another one at the second look (rebinding)'
const tls = 'TLS for another host over a listed address: wrong SNI, none, two, an encrypted hello'
const http = 'HTTP for another host: `Host`, a whole URL, CONNECT, a second request, one hidden in a body, `Upgrade`'
const protocols = 'another protocol: UDP, ICMP, raw and packet sockets, netlink, abstract sockets'
const flood = 'a sandbox that floods or holds the gate: connections, slow bodies, endless headers, bytes'
const refused = 'a command that floods the helper which hears what the kernel refuses'
const audited = 'a command that floods the audit with refused names and connections'
const narrowed = 'a host that the executor lists, and that a rule of the workspace closes'
const credential =
  'a credential for a host: looked for in the sandbox, sent to another host, over cleartext, or to one that does not prove its name'
const unruled =
  'a request that no rule of its host allows: another method or path, a path that can be read in two ways, one behind an allowed one, one under a wider entry'
const pattern = "a request whose path takes a rule's pattern long to compare"
const authority = 'the authority that programs trust, used for other hosts'
const interpreter =
  'a script of the interpreter that downloads from a host beside its list: by an address, another port, a redirect, its thread itself'
const twice =
  'a request that is read in two ways: `Connection` names its length, its coding or a header of a rule; a length behind more headers than Node keeps; a coding beside chunks'
const answers =
  'an answer of a host that ends this process: a status such as 099, a control byte in the reason, a 101 that was not asked for, odd headers and frames; a tunnel that a command asks for behind another request'
const download =
  'a script of the interpreter whose download ends this process: a time that no timer takes, a message that its thread never sends'
const tool =
  'a tool that downloads from a host that commands may not reach: beside the list, past a rule, by a redirect, by the second client, over Tor, by a downloader that leaves the question out'
const noNetwork =
  'a way out where commands have none: the tool `download` of a model, an MCP client or a step of a plan'
const ruled = 'a host with rules for requests, asked by a tool that knows no such rules'
const encoded =
  'a server whose body is not in its encoding, when the reader has left: an error without a listener ends the host'
const toolTest = 'packages/agents/tools/test/download-policy.test.ts'
const toolFile = 'packages/agents/tools/src/session/downloads.ts'
const judgement = 'packages/kernel/core/src/commands/explain-connection.ts'
const helper = 'the helper that opens the sockets, led to another namespace'

export const networkMutations: readonly Mutation[] = [
  {
    row: refused,
    removes: 'the number of refusals that are told',
    file: script,
    text: '    delete $hears{$id} if keys %{$told{$id}} >= $most;\n',
    test: { file: inside, title: 'are told up to a number' },
  },
  {
    row: dns,
    removes: 'the list behind the name server',
    file: 'packages/kernel/network/src/gate/address-book.ts',
    text: 'if (this.#names.length >= mostNames || !this.#list.knows(name)) return undefined',
    by: 'if (this.#names.length >= mostNames) return undefined',
    test: { file: inside, title: 'end inside' },
  },
  {
    row: dns,
    removes: 'the bound on names below a wildcard',
    file: 'packages/kernel/network/src/gate/address-book.ts',
    text: 'const mostNames = 4096',
    by: 'const mostNames = 60_000',
    test: { file: 'packages/kernel/network/test/gate/dns.test.ts', title: 'no endless supply' },
  },
  {
    row: address,
    removes: 'the network namespace',
    file: 'packages/executors/bubblewrap/src/bwrap/tree-arguments.ts',
    text: "...(network === 'host' ? ['--share-net'] : [])",
    by: "...['--share-net']",
    test: { file: inside, title: 'are reached by programs' },
  },
  {
    row: address,
    removes: 'the port of an entry',
    file: 'packages/kernel/core/src/policy/host-list.ts',
    text: 'matches(entry, wanted) && portsOf(entry).includes(port)',
    by: 'matches(entry, wanted) && port > 0',
    test: { file: gateTest, title: 'a port that its name has not' },
  },
  {
    row: rebinding,
    removes: 'the check of addresses',
    file: 'packages/kernel/network/src/resolve.ts',
    text: 'isPublicAddress(address) || permits(address)',
    by: 'isPublicAddress(address) || address.length > 0',
    test: { file: inside, title: 'leads to an address of this machine' },
  },
  {
    row: rebinding,
    removes: 'the dial of what was checked',
    file: 'packages/kernel/network/src/dial.ts',
    text: 'const socket = await dialAddress(address, at, signal)',
    by: 'const socket = await dialAddress(String((await check.resolve(host, port))[0] ?? address), at, signal)',
    test: { file: 'packages/kernel/network/test/dial.test.ts', title: 'whatever the name says later' },
  },
  {
    row: rebinding,
    removes: 'the exception of metadata services from ranges',
    file: 'packages/kernel/network/src/address.ts',
    text: 'if (isMetadata && !isSingle) return false',
    test: { file: 'packages/kernel/network/test/address.test.ts', title: 'metadata service' },
  },
  {
    row: tls,
    removes: 'the comparison of the SNI',
    file: 'packages/kernel/network/src/gate/stream-door.ts',
    text: 'return said === name\n',
    by: 'return said !== ""\n',
    test: { file: inside, title: 'the SNI must be the name' },
  },
  {
    row: tls,
    removes: 'the refusal of an encrypted hello',
    file: 'packages/kernel/network/src/gate/client-hello.ts',
    text: 'if (type === extensions.encryptedHello)',
    by: 'if (type === 0x1ffff)',
    test: { file: 'packages/kernel/network/test/gate/client-hello.test.ts', title: 'encrypted hello' },
  },
  {
    row: http,
    removes: 'the judgement of each request',
    file: httpDoor,
    text: 'if (judged === undefined) return destination',
    by: 'if (judged !== null) return destination',
    test: { file: gateTest, title: 'a second request' },
  },
  {
    row: http,
    removes: 'the look at the whole first line',
    file: 'packages/kernel/network/src/gate/stream-door.ts',
    text: "return bytes.length > longestLine ? 'endless' : 'more'",
    by: "return bytes.length < 0 ? 'endless' : 'other'",
    test: { file: gateTest, title: 'comes in pieces' },
  },
  {
    row: http,
    removes: 'the refusal of whole URLs',
    file: httpDoor,
    text: "if (!url.startsWith('/') &&",
    by: "if (url === '' &&",
    test: { file: gateTest, title: 'a whole URL' },
  },
  {
    row: http,
    removes: 'the strict parser',
    file: httpDoor,
    text: 'insecureHTTPParser: false',
    by: 'insecureHTTPParser: true',
    test: { file: gateTest, title: 'two lengths' },
  },
  {
    row: protocols,
    removes: 'the families of sockets',
    file: 'packages/kernel/sandbox/src/confine/seccomp/programs.ts',
    text: 'return [loadArgument(0), ...known, answer(refuse(EAFNOSUPPORT))]',
    by: 'return [loadArgument(0), ...known, answer(allow)]',
    test: { file: inside, title: 'end inside' },
  },
  {
    row: flood,
    removes: 'the limit of connections',
    file: passage,
    text: 'if (this.#open >= this.limits.connections) return undefined',
    test: { file: gateTest, title: 'so many connections' },
  },
  {
    row: flood,
    removes: 'the limit of bytes',
    file: passage,
    text: 'if (this.#bytes > bytes) end(refusals.tooMuch(bytes))',
    test: { file: gateTest, title: 'more bytes' },
  },
  {
    row: flood,
    removes: 'the end of silent connections',
    file: passage,
    text: 'socket.setTimeout(this.limits.idleTimeout, () => socket.destroy())',
    test: { file: gateTest, title: 'nothing comes' },
  },
  {
    row: flood,
    removes: 'the turns of the requests of a connection',
    file: turns,
    text: 'if (!line.isBusy) begin()',
    by: 'if (size > 0) begin()',
    test: { file: gateTest, title: 'one request of a connection at a time' },
  },
  {
    row: flood,
    removes: 'the bound of the requests that wait',
    file: turns,
    text: 'this.#waiting + size > mostWaiting',
    by: 'this.#waiting < 0',
    test: { file: gateTest, title: 'up to a number of bytes' },
  },
  {
    row: flood,
    removes: 'the count of connections to hosts',
    file: passage,
    text: 'if (open >= connections) return',
    by: 'if (open < 0) return',
    test: { file: gateTest, title: 'as many connections as it takes' },
  },
  {
    row: flood,
    removes: 'the time of a head',
    file: httpDoor,
    text: "this.#server.emit('listening')",
    test: { file: gateTest, title: 'however slowly it comes' },
  },
  {
    row: audited,
    removes: 'the most events of a command',
    file: 'packages/kernel/core/src/commands/command-audit.ts',
    text: 'if (told[outcome] <= mostEvents[outcome]) return',
    by: 'if (told[outcome] > 0) return',
    test: { file: 'lab/tests-commands/test/network/listed-hosts.test.ts', title: 'one event with their number' },
  },
  {
    row: flood,
    removes: 'the bound of certificates that are kept',
    file: 'packages/kernel/network/src/requests/authority.ts',
    text: 'const mostKept = 256',
    by: 'const mostKept = 2560',
    test: { file: requestsTest, title: 'in little time, and keeps few' },
  },
  {
    row: narrowed,
    removes: 'the narrowing of the list by rules',
    file: 'packages/executors/bubblewrap/src/network/named-network.ts',
    text: 'list: network.list.narrow(rules)',
    by: 'list: network.list.narrow(rules.slice(0, 0))',
    test: { file: 'lab/tests-commands/test/network/listed-hosts.test.ts', title: 'narrows the list' },
  },
  {
    row: narrowed,
    removes: 'the refusal of commands that share the network of the machine',
    file: 'packages/kernel/core/src/commands/enforcement.ts',
    text: "field === 'network' ? 'names'",
    by: "field === 'network' ? 'none'",
    test: { file: 'lab/tests-commands/test/network/listed-hosts.test.ts', title: 'refuses commands that share' },
  },
  {
    row: credential,
    removes: 'the refusal of cleartext',
    file: decideFile,
    text: '!isSecure && Object.keys',
    by: 'isSecure === undefined && Object.keys',
    test: { file: requestsTest, title: 'no credential on cleartext' },
  },
  {
    row: credential,
    removes: 'the check of the certificate of the host',
    file: 'packages/kernel/network/src/gate/request-door.ts',
    text: "minVersion: 'TLSv1.2',",
    by: "minVersion: 'TLSv1.2',\n      rejectUnauthorized: false,",
    test: { file: requestsTest, title: 'does not prove its name' },
  },
  {
    row: credential,
    removes: 'the order of headers, by which the rule wins',
    file: headersFile,
    text: '{ ...own, ...headers,',
    by: '{ ...headers, ...own,',
    test: { file: requestsTest, title: 'get the credential on their way' },
  },
  {
    row: credential,
    removes: 'the check of what a function gave',
    file: decideFile,
    text: 'isHeaderValue(value)) ?',
    by: 'value !== undefined) ?',
    test: { file: requestsTest, title: 'fail where the credential cannot be had' },
  },
  {
    row: unruled,
    removes: 'the refusal of a request without a rule',
    file: decideFile,
    text: 'if (rule === undefined) return {',
    by: 'if (rule === undefined) return { headers: {} }\n  if (rule === null) return {',
    test: { file: requestsTest, title: 'are refused where no rule matches' },
  },
  {
    row: unruled,
    removes: 'the refusal of dots in a path',
    file: pathFile,
    text: 'return dots ? ',
    by: "return dots && text === '' ? ",
    test: { file: requestsTest, title: 'could be read as another one' },
  },
  {
    row: unruled,
    removes: 'the refusal of bytes that are not text',
    file: pathFile,
    text: '? badBytes :',
    by: '? String.fromCharCode(byte) :',
    test: { file: judgeTest, title: 'does not let /open/a%01b pass' },
  },
  {
    row: unruled,
    removes: 'the comparison of every reading',
    file: judgeFile,
    text: 'others.some((other) => other !== rule)',
    by: 'others.length < 0',
    test: { file: judgeTest, title: 'does not let /users/me%2fkeys pass' },
  },
  {
    row: pattern,
    removes: 'the automaton, in whose place an expression goes back',
    file: pathFile,
    text: "return text.startsWith('/') && glob.matches(named(text))",
    by: "return glob.cost >= 0 && new RegExp(`^${pattern.replaceAll('\u0002', '[^/]*').replaceAll('\u0003', '.*')}$`, 'u').test(text)",
    test: { file: judgeTest, title: 'time that does not multiply' },
  },
  {
    row: unruled,
    removes: 'the look for an entry with rules below a wider one',
    file: 'packages/kernel/network/src/requests/hosts.ts',
    text: 'this.#list = new HostList(ruled',
    by: 'this.#list = new HostList(entries',
    test: { file: requestsTest, title: 'whatever other entries there are' },
  },
  {
    row: twice,
    removes: 'the keeping of headers that `Connection` names',
    changes: [
      { file: headersFile, text: 'endToEnd({ rawHeaders }: ', by: 'endToEnd({ rawHeaders, headers }: ' },
      {
        file: headersFile,
        text: 'if (hopByHop.has(key)) continue',
        by: "if (hopByHop.has(key) || headers.connection?.toLowerCase().split(', ').includes(key)) continue",
      },
    ],
    test: { file: framingTest, title: 'is kept where `Connection` names it' },
  },
  {
    row: twice,
    removes: 'the keeping of all headers',
    file: httpDoor,
    text: 'this.#server.maxHeadersCount = 0',
    test: { file: framingTest, title: 'more headers than Node keeps' },
  },
  {
    row: twice,
    removes: 'the refusal of another coding',
    file: httpDoor,
    text: 'if (!isPlainCoding(headers))',
    by: 'if (!isPlainCoding({}))',
    test: { file: framingTest, title: 'a coding that its copy would not name' },
  },
  {
    row: answers,
    removes: 'the range of a status',
    file: answersFile,
    text: '!isStatus(incoming.statusCode) || !copyHead',
    by: '!isStatus(200) || !copyHead',
    test: { file: answersTest, title: 'come through where HTTP allows them' },
  },
  {
    row: answers,
    removes: 'the leaving out of the reason',
    file: answersFile,
    text: 'response.writeHead(incoming.statusCode ?? 0, {',
    by: 'response.writeHead(incoming.statusCode ?? 0, incoming.statusMessage, {',
    test: { file: answersTest, title: 'come through where HTTP allows them' },
  },
  {
    row: answers,
    removes: 'the range of a status, for a download',
    file: answersFile,
    text: '!isStatus(incoming.statusCode) || !copyHead',
    by: '!isStatus(200) || !copyHead',
    test: { file: 'packages/agents/download/test/answers.test.ts', title: 'come through where HTTP allows them' },
  },
  {
    row: answers,
    removes: 'the end of a connection whose request waits',
    file: answersFile,
    text: 'return void socket.destroy()\n  }\n  const end',
    by: "throw new Error('assigned')\n  }\n  const end",
    test: { file: answersTest, title: 'a connection that waits for another one' },
  },
  {
    row: download,
    removes: 'the range of timers',
    file: 'packages/executors/virtual/src/run/downloads.ts',
    text: 'Math.min(Math.ceil(timeout), longestTimer)',
    by: 'timeout',
    test: { file: curlTest, title: 'takes the time' },
  },
  {
    row: authority,
    removes: 'the limit of its certificate',
    file: 'packages/kernel/network/src/requests/authority.ts',
    text: 'const permitted = names.map',
    by: "const permitted = [...names, 'test'].map",
    test: { file: requestsTest, title: 'speaks for its hosts alone' },
  },
  {
    row: interpreter,
    removes: 'the look at the list for each connection',
    file: 'packages/agents/download/src/egress/connect.ts',
    text: "if (verdict.effect === 'deny') throw",
    by: 'if (verdict.effect === undefined) throw',
    test: { file: curlTest, title: 'reaches no other' },
  },
  {
    row: interpreter,
    removes: 'the rules of the workspace',
    file: 'packages/executors/virtual/src/run/downloads.ts',
    text: 'network.list.narrow(rules)',
    by: 'network.list.narrow(rules.slice(rules.length))',
    test: { file: curlTest, title: 'narrowed by a rule' },
  },
  {
    row: tool,
    removes: 'the question before Tor is asked',
    file: 'packages/agents/download/src/egress/connect.ts',
    text: "if (verdict.effect === 'deny') throw",
    by: "if (verdict.effect === 'deny' && transfer.identity === undefined) throw",
    test: { file: 'packages/agents/download/test/connections.test.ts', title: 'meet the same judgement' },
  },
  {
    row: tool,
    removes: 'the question at a redirect',
    file: 'packages/agents/download/src/downloader.ts',
    text: 'this.#ask(url, { ...following, tor })',
    by: 'this.#ask(url, { ...following, tor, ...(url !== first && { connections: undefined }) })',
    test: { file: toolTest, title: 'a redirect to an unlisted host' },
  },
  {
    row: tool,
    removes: 'the rules of the workspace',
    file: judgement,
    text: 'if (closed === undefined) return verdict',
    by: 'if (closed !== null) return verdict',
    test: { file: toolTest, title: 'that a rule closes' },
  },
  {
    row: tool,
    removes: 'the judgement of the first URL',
    file: toolFile,
    text: '  admit(url)\n',
    test: { file: toolTest, title: 'before anything goes out' },
  },
  {
    row: tool,
    removes: 'the judgement of the last URL',
    file: toolFile,
    text: 'admit(download.url)',
    by: 'asks = false',
    test: { file: toolTest, title: 'follows a redirect by itself' },
  },
  {
    row: tool,
    removes: 'the events',
    file: judgement,
    text: "report: (report) => recordConnection(context, report, { door: 'files', path }),",
    by: 'report: () => undefined,',
    test: { file: toolTest, title: 'with an event for each' },
  },
  {
    row: noNetwork,
    removes: 'the look at the network of commands',
    file: toolFile,
    text: "if (hosts === undefined && network !== 'names' && network !== 'none') return undefined",
    by: 'if (hosts === null) return undefined',
    test: { file: toolTest, title: 'no face offers them' },
  },
  {
    row: noNetwork,
    removes: 'the refusal of a call that is made all the same',
    changes: [
      {
        file: 'packages/kernel/core/src/commands/explain-connection.ts',
        text: "if (level === 'none') return { effect: 'allow' }",
        by: "if (level !== 'names') return { effect: 'allow' }",
      },
      {
        file: toolFile,
        text: "if (hosts === undefined && network !== 'names' && network !== 'none') return undefined",
        by: 'if (hosts === null) return undefined',
      },
    ],
    test: { file: 'apps/mcp-server/test/downloads.test.ts', title: 'is not offered' },
  },
  {
    row: noNetwork,
    removes: 'the event of a call that was not offered',
    file: 'packages/agents/tools/src/operations/download.ts',
    text: '  workspace.connections({ path }).report({',
    by: '  void ({',
    test: { file: toolTest, title: 'no face offers them' },
  },
  {
    row: ruled,
    removes: 'the word of the executor',
    file: 'packages/kernel/network/src/gate/refused-hosts.ts',
    text: 'const judgesRequests = requests?.of(host, port) !== undefined',
    by: 'const judgesRequests = requests === null',
    test: { file: requestsTest, title: 'says that its requests have rules' },
  },
  {
    row: ruled,
    removes: 'the refusal of the tool',
    file: judgement,
    text: 'verdict.judgesRequests !== true',
    by: 'verdict.judgesRequests !== null',
    test: { file: toolTest, title: 'whose requests have rules' },
  },
  {
    row: encoded,
    removes: 'the listener of the decoder',
    file: 'packages/agents/download/src/client/undici.ts',
    text: "  decoder.on('error', () => undefined)\n",
    test: { file: 'packages/agents/download/test/connections.test.ts', title: 'is not read, ends nothing' },
  },
  {
    row: helper,
    removes: 'the refusal of its own namespace',
    file: script,
    text: `if ("@own[0, 1]" eq "@other[0, 1]") {`,
    by: 'if (0) {',
    test: { file: 'packages/executors/bubblewrap/test/listener.test.ts', title: 'own network' },
  },
  {
    row: helper,
    removes: 'the comparison of the time of start',
    file: script,
    text: "if (($started // '') ne $start) {",
    by: 'if (!defined $started) {',
    test: { file: 'packages/executors/bubblewrap/test/listener.test.ts', title: 'no other process' },
  },
]
