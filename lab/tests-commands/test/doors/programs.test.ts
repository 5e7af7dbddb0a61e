import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { forms, openSite } from './site.ts'

for (const door of forms) {
  const tools = [...door.components, 'python3', 'node'] as const
  describeWith(tools.map(component), `programs: ${door.name}`, { tags: [...door.tags] }, () => {
    const open = (options: Partial<Parameters<typeof openSite>[0]> = {}) =>
      openSite({ root: door.root, executor: door.create(), ...options })

    it('[PC5] python and node see what list and read see', async () => {
      await using site = await open({ files: { 'script.py': 'import sys; print(open(sys.argv[1]).read(), end="")' } })
      expect(await site.run(`python3 ${site.at('script.py')} ${site.at('file.txt')}`)).toBe('a file\n')
      await site.workspace.write('x.js', 'console.log(require("fs").readdirSync(process.argv[2]).includes("x.js"))')
      expect(await site.run(`node ${site.at('x.js')} ${site.at('')}`)).toBe('true\n')
    })

    it('[PC8, RP9] a login shell starts in the root too; PWD, HOME and USER say so', async () => {
      await using site = await open()
      expect(await site.run('echo "$PWD $HOME $USER"', { login: true })).toBe(`${door.root} ${door.root} user\n`)
    })

    it('[PC13] an untrusted requirement is met by the kernel, or refused with the reasons', async () => {
      const opened = open({ require: 'untrusted' })
      if (!door.kernel) return expect(opened).rejects.toThrow(/ENOEXECUTOR.*proot/s)
      await using site = await opened
      expect(await site.run('echo ran')).toBe('ran\n')
    })
  })
}

describe('without an executor', () => {
  it('[PC13] commands are refused with what to do, and never run otherwise', async () => {
    await using site = await openSite({ root: '/' })
    await expect(site.workspace.exec('true')).rejects.toThrow(/ENOEXECUTOR.*executors/s)
  })
})
