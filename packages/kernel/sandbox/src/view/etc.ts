import { lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { hostname } from 'node:os'

import { isShort } from '../run/room.ts'

import { javaKeystore } from './java-keystore.ts'
import type { SystemEntry, SystemTreeOptions } from './system-tree.ts'

/**
 * The names in the host's `/etc` that programs need. Commands see no other names. Secrets and users' settings are omitted: `shadow`,
 * `ssh`, `ssl/private`, `environment`, `profile.d`, `gitconfig`, `npmrc`, `pip.conf`, `machine-id`.
 */
const copied = [
  'ld.so.cache',
  'localtime',
  'timezone',
  'os-release',
  'debian_version',
  'inputrc',
  'magic',
  'mime.types',
  'locale.alias',
  'host.conf',
  'gai.conf',
  'protocols',
  'services',
  'networks',
  'shells',
  'ssl/openssl.cnf',
  'ca-certificates.conf',
  'mtab',
]

const directories = ['alternatives', 'ssl/certs', 'pki/tls', 'pki/ca-trust', 'crypto-policies', 'terminfo', 'fonts']

/** The files in which programs of Debian, and its Java, look for certificate authorities. */
const certificateFile = 'ssl/certs/ca-certificates.crt'
const javaFile = 'ssl/certs/java/cacerts'

const smallDirectory = 4

const versioned = /^(?:python\d|java-\d)/

// PATH comes from the environment. The host's own profile would reset it in login shells [X5, LS14].
const profile = `# Login shells keep the PATH that they are started with.
PATH="\${PATH:-/usr/local/bin:/usr/bin:/bin}"
export PATH
`

export function etcEntries({
  root,
  owner,
  shell = '/bin/sh',
  network = false,
  resolver,
  certificates,
}: SystemTreeOptions): SystemEntry[] {
  const { uid, gid } = owner
  const data = (at: string, content: Buffer): SystemEntry => ({ kind: 'data', at: `/etc/${at}`, content })
  const text = (at: string, content: string) => data(at, Buffer.from(content))
  // A colon or line end would start another field. HOME still names such a root.
  const home = /[:\n]/.test(root) ? '/' : root
  const own = [
    text('passwd', `user:x:${uid}:${gid}:user:${home}:${shell}\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n`),
    text('group', `user:x:${gid}:\nnogroup:x:65534:\n`),
    text('hosts', `127.0.0.1 localhost${resolver ? ownName() : ''}\n::1 localhost ip6-localhost ip6-loopback\n`),
    text('nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n'),
    text('profile', profile),
    ...(certificates === undefined
      ? []
      : [text(certificateFile, certificates), data(javaFile, javaKeystore(certificates))]),
    ...(resolver === undefined ? (network ? nameServers() : []) : [text('resolv.conf', resolver)]),
  ]
  const versionedDirectories = names('/etc').filter((name) => versioned.test(name))
  const kept = directories.filter((name) => certificates === undefined || !certificateFile.startsWith(`${name}/`))
  const shared = [...kept, ...versionedDirectories].flatMap(directoryEntry)
  return [...own, ...copied.flatMap(fileEntry), ...shared]
}

/** Returns the name of this machine for `hosts`, so that programs such as git need no name server for it. */
function ownName(): string {
  const name = hostname()
  return /^[\w.-]{1,253}$/u.test(name) ? ` ${name}` : ''
}

/** Copies the content, because on many hosts the file is a link into `/run`, which the sandbox does not have. */
function nameServers(): SystemEntry[] {
  try {
    return [{ kind: 'data', at: '/etc/resolv.conf', content: readFileSync('/etc/resolv.conf') }]
  } catch (error) {
    if (isShort(error)) throw error // the cached view would never contain the entry
    return []
  }
}

function fileEntry(name: string): SystemEntry[] {
  const at = `/etc/${name}`
  try {
    if (lstatSync(at).isSymbolicLink()) return linkEntry(at)
    return readableByAll(at, 'file') ? [{ kind: 'file', at, source: at }] : []
  } catch (error) {
    if (isShort(error)) throw error // the cached view would never contain the entry
    return []
  }
}

/** Keeps a link that leads into the view. Any other link would dangle. */
function linkEntry(at: string): SystemEntry[] {
  const target = readlinkSync(at)
  const kept = /^(?:\.\.)?\/(?:usr|proc)\//.test(target)
  return kept ? [{ kind: 'link', at, target }] : []
}

function directoryEntry(name: string): SystemEntry[] {
  const at = `/etc/${name}`
  try {
    const real = realpathSync(at)
    const inside = readdirSync(real, { withFileTypes: true })
    // Copying the files is cheaper than a mount.
    if (inside.length <= smallDirectory && inside.every((entry) => entry.isFile()))
      return inside.flatMap((entry) => (entry.name === 'README' ? [] : fileEntry(`${name}/${entry.name}`)))
    return readableByAll(real, 'directory') ? [{ kind: 'directory', at, source: real }] : []
  } catch (error) {
    if (isShort(error)) throw error // the cached view would never contain the entry
    return []
  }
}

/** Returns whether all users may read a path. If root starts commands, files that only root may read must not become readable. */
function readableByAll(path: string, type: 'file' | 'directory'): boolean {
  const stat = statSync(path)
  if (type === 'directory') return stat.isDirectory() && (stat.mode & 0o005) === 0o005
  return stat.isFile() && (stat.mode & 0o004) !== 0
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isShort(error)) throw error // the cached view would never contain the entry
    return []
  }
}
