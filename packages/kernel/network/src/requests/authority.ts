import { constants, generateKeyPair, type KeyObject, privateEncrypt, randomBytes } from 'node:crypto'
import type { SecureContext } from 'node:tls'
import { promisify } from 'node:util'

import { execError, type hostLists } from '@ws/core/executor'

type Forge = typeof import('node-forge')

const generate = promisify(generateKeyPair)
const day = 86_400_000
/** Days that the certificates are valid. */
const validity = 397
/** Limit of kept certificates: a wildcard matches unlimited names; a new certificate takes 2 ms. */
const mostKept = 256
/** DER before a signed SHA-256 hash (RFC 8017). */
const hashPrefix = Buffer.from('3031300d060960864801650304020105000420', 'hex')

/** A certificate authority of one workspace, with its key in memory. The certificate is limited to the given hosts. */
export interface Authority {
  readonly certificate: string
  /** Returns a TLS context that proves the host's name to programs in the sandbox. */
  contextFor(name: string): SecureContext
}

/** @throws WorkspaceError `ENOEXECUTOR` where `node-forge` is not installed */
export async function createAuthority(hosts: readonly Pick<hostLists.Entry, 'name'>[]): Promise<Authority> {
  const [forge, { createSecureContext }] = await Promise.all([loadForge(), import('node:tls')])
  const [authority, leaf] = await Promise.all([keys(forge), keys(forge)])
  // letters and digits alone: Go rejects a certificate whose PrintableString has other characters
  const subject = [{ name: 'commonName', value: `ws workspace ${randomBytes(4).toString('hex')}` }]
  const root = begin(forge, { subject, issuer: subject, key: authority.publicKey })
  root.setExtensions([
    { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
    { id: nameConstraints, critical: true, value: constraintsFor(forge, [...new Set(hosts.map(({ name }) => name))]) },
  ])
  root.sign(signer(authority.privateKey), forge.md.sha256.create())
  const certificate = forge.pki.certificateToPem(root)
  const contexts = new Map<string, SecureContext>()
  return {
    certificate,
    contextFor(name) {
      const known = contexts.get(name)
      if (known !== undefined) return known
      const own = begin(forge, { subject: [], issuer: subject, key: leaf.publicKey })
      own.setExtensions([
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', serverAuth: true },
        { name: 'subjectAltName', critical: true, altNames: [{ type: 2, value: name }] },
        { name: 'subjectKeyIdentifier' },
        { name: 'authorityKeyIdentifier', keyIdentifier: root.generateSubjectKeyIdentifier().getBytes() },
      ])
      own.sign(signer(authority.privateKey), forge.md.sha256.create())
      const context = createSecureContext({
        cert: forge.pki.certificateToPem(own),
        key: leaf.pem,
        minVersion: 'TLSv1.2',
      })
      const [oldest] = contexts.keys()
      if (contexts.size >= mostKept && oldest !== undefined) contexts.delete(oldest)
      contexts.set(name, context)
      return context
    },
  }
}

const nameConstraints = '2.5.29.30'

/** DER of constraints for these names and their subdomains, without addresses. */
function constraintsFor({ asn1 }: Forge, names: readonly string[]): string {
  const { CONTEXT_SPECIFIC, UNIVERSAL } = asn1.Class
  const subtree = (tag: number, value: string) =>
    asn1.create(UNIVERSAL, asn1.Type.SEQUENCE, true, [asn1.create(CONTEXT_SPECIFIC, tag, false, value)])
  const permitted = names.map((name) => subtree(2, name))
  const excluded = [8, 32].map((bytes) => subtree(7, '\0'.repeat(bytes)))
  const constraints = asn1.create(UNIVERSAL, asn1.Type.SEQUENCE, true, [
    asn1.create(CONTEXT_SPECIFIC, 0, true, permitted),
    asn1.create(CONTEXT_SPECIFIC, 1, true, excluded),
  ])
  return asn1.toDer(constraints).getBytes()
}

interface Beginning {
  readonly subject: { name: string; value: string }[]
  readonly issuer: { name: string; value: string }[]
  readonly key: import('node-forge').pki.PublicKey
}

function begin(forge: Forge, { subject, issuer, key }: Beginning): import('node-forge').pki.Certificate {
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = key
  certificate.serialNumber = `01${randomBytes(15).toString('hex')}`
  // sandboxes have this machine's clock, but programs may have their own
  certificate.validity.notBefore = new Date(Date.now() - day)
  certificate.validity.notAfter = new Date(Date.now() + validity * day)
  certificate.setSubject(subject)
  certificate.setIssuer(issuer)
  return certificate
}

async function keys(forge: Forge) {
  const options = { modulusLength: 2048 } as const
  const pair = await generate('rsa', options)
  const pem = pair.privateKey.export({ type: 'pkcs1', format: 'pem' }) as string
  const publicPem = pair.publicKey.export({ type: 'spki', format: 'pem' }) as string
  return { pem, privateKey: pair.privateKey, publicKey: forge.pki.publicKeyFromPem(publicPem) }
}

/** A key for forge that signs by OpenSSL: forge itself blocks this process for 25 ms. */
function signer(key: KeyObject): import('node-forge').pki.rsa.PrivateKey {
  const sign = (hash: import('node-forge').md.MessageDigest): string => {
    const signed = Buffer.concat([hashPrefix, Buffer.from(hash.digest().getBytes(), 'latin1')])
    return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signed).toString('latin1')
  }
  return { sign } as unknown as import('node-forge').pki.rsa.PrivateKey
}

async function loadForge(): Promise<Forge> {
  try {
    const { default: forge } = await import('node-forge')
    return forge
  } catch (native) {
    throw execError('ENOEXECUTOR', '`network.requests` needs the package `node-forge`, which is not installed', {
      remedy: 'install it: `npm install node-forge`',
      native,
    })
  }
}
