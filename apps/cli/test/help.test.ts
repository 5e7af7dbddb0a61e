import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { ws } from './ws.ts'

const commands = [
  'exec',
  'session',
  'publish',
  'ps',
  'kill',
  'ls',
  'tree',
  'glob',
  'cat',
  'write',
  'edit',
  'stat',
  'mkdir',
  'cp',
  'mv',
  'rm',
  'search',
  'init',
  'trust',
  'explain',
  'verify',
  'doctor',
]

describe('ws --help', () => {
  it('names every command, the global options, examples and exit codes', async () => {
    const { code, stdout, stderr } = await ws(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'mu'))
    for (const option of ['--root', '--at', '--owner', '--config', '--executor', '--require', '--json']) {
      expect(stdout).toContain(option)
    }
    expect(stdout).toContain('Examples:')
    for (const exitCode of ['0', '1', '2', '124', '125', '128+n']) expect(stdout).toContain(`\n  ${exitCode}`)
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
  })

  it('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    for (const option of ['--version', '-V']) {
      expect(await ws([option])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
    }
  })

  it.each(commands)('%s --help has examples', async (command) => {
    const { code, stdout } = await ws([command, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('Examples:')
    expect(stdout).toContain(`Usage: ws ${command}`)
  })
})
