import { createHash, type Hash } from 'node:crypto'

const magic = 0xfeed_feed
const version = 2
const trustedCertificate = 2
/** The usual password of Java's keystore. It protects no secret: the content is public. */
const password = 'changeit'

/** Converts a list of authorities from PEM to a Java keystore (JKS). */
export function javaKeystore(certificates: string): Buffer {
  const found = certificates.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? []
  const content = Buffer.concat([
    ...[magic, version, found.length].map(number),
    ...found.flatMap((pem, index) => entry(`authority-${index}`, derOf(pem))),
  ])
  return Buffer.concat([content, seal().update(content).digest()])
}

function entry(alias: string, der: Buffer): Buffer[] {
  // alias, no date, the type of the certificate
  return [number(trustedCertificate), text(alias), Buffer.alloc(8), text('X.509'), number(der.length), der]
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.split('\n').slice(1, -1).join(''), 'base64')
}

/** Starts the final digest, with the password in UTF-16 and a constant text of the format. */
function seal(): Hash {
  const wide = Buffer.from(password, 'utf16le').swap16()
  return createHash('sha1').update(wide).update('Mighty Aphrodite')
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value.length)
  return Buffer.concat([bytes, Buffer.from(value)])
}
