import { WorkspaceError, type ErrorCode } from '@ws/core'
import { type Refusal, refusals } from '@ws/network/gate'

const operation = 'download'

export const problems = {
  url: (reason: string) => make('EINVAL', reason, 'give an `http` or `https` URL of a public host'),
  refusedHost: (host: string, refusal: Refusal) => {
    const { outcome, rule, reason, remedy } = refusal
    const failed = refusal === refusals.dial('unknown') ? 'ENOENT' : 'EBACKEND'
    return make(outcome === 'denied' ? 'EACCES' : failed, `\`${host}\` ${reason}`, remedy, rule)
  },
  unreachable: (host: string) =>
    make('EBACKEND', `the host \`${host}\` cannot be reached`, 'try again later, or another URL'),
  tls: (host: string) => make('EBACKEND', `the certificate of \`${host}\` is not valid`, 'use another host'),
  redirects: (count: number) => make('ELOOP', `more than ${count} redirects`, 'give the final URL'),
  downgrade: () =>
    make('EACCES', 'a redirect leads from `https` to `http`', 'give the final URL yourself, if you trust it'),
  status: (status: number) =>
    make(
      status === 404 || status === 410 ? 'ENOENT' : 'EBACKEND',
      `the server answered ${status}`,
      'check the URL, or try another',
    ),
  refused: (status: number) =>
    make(
      'EBACKEND',
      `the server answered ${status}`,
      'install the package `impit`, whose client speaks as a browser does, or try another URL',
    ),
  tooLarge: (bytes: number) => make('EFBIG', `it has more than ${bytes} bytes`, 'download a smaller file'),
  idle: (milliseconds: number) =>
    make('ETIMEDOUT', `the server sent nothing for ${milliseconds} ms`, 'try again later, or another URL'),
  tooSlow: (milliseconds: number) =>
    make('ETIMEDOUT', `the download took longer than ${milliseconds} ms`, 'try again later, or another URL'),
  tooShort: () => make('EIO', 'the server ended before all of it had come', 'try again'),
  noTor: () => make('ENOTSUP', 'Tor is required, and is not configured', 'configure `tor`, or do not require it'),
  encoding: (encoding: string) =>
    make(
      'EBACKEND',
      `the server sent the content encoding \`${encoding.slice(0, 100)}\`, which cannot be decoded`,
      'try another URL',
    ),
  closed: () => make('ECLOSED', 'the downloader is closed', 'make a new one'),
} as const

function make(code: ErrorCode, reason: string, remedy: string, rule?: string): WorkspaceError {
  return new WorkspaceError({ code, operation, reason, remedy, rule })
}
