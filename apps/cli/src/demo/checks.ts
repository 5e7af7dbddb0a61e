import { expectEqual, expectTrue, quote } from '../checks/expect.ts'
import type { Check } from '../checks/types.ts'

/** Checks for the sample project in particular. */
export const projectChecks: readonly Check[] = [
  {
    id: 'project-node',
    group: 'tools',
    title: "the project's JavaScript: tests pass, 26 words",
    needs: { program: 'node', package: 'nodejs' },
    async run(site) {
      const result = await site.run('node --test test/ >/tmp/log 2>&1 && node src/main.js')
      expectEqual(result.stdout, '26\n', result.stderr || 'node')
    },
  },
  {
    id: 'project-python',
    group: 'tools',
    title: "the project's Python: tests pass, the same 26 words",
    needs: { program: 'python3', package: 'python3' },
    async run(site) {
      const result = await site.run('python3 -m unittest discover tests 2>/tmp/log && python3 -m wordcount')
      expectEqual(result.stdout, '26\n', result.stderr || 'python3')
      const text = await site.workspace.readText(site.path('/docs/poem.txt'))
      expectEqual(text.split(/\s+/u).filter(Boolean).length, 26, 'words through the API')
    },
  },
  {
    id: 'project-git',
    group: 'tools',
    title: 'its git repository is intact; git log and diff agree',
    needs: { program: 'git', package: 'git' },
    async run(site) {
      await site.workspace.append(site.path('/README.md'), 'One more line.\n')
      const result = await site.run(
        'git log --format=%s | tail -n 1; git diff --stat -- README.md | tail -n 1; git checkout -q README.md',
      )
      expectEqual(result.stdout, 'The sample project\n 1 file changed, 1 insertion(+)\n', result.stderr || 'git')
      expectTrue(
        !(await site.workspace.readText(site.path('/README.md'))).includes('One more'),
        'git checkout is not seen',
      )
    },
  },
  {
    id: 'project-binary',
    group: 'consistency',
    title: 'binary files have the same bytes',
    async run(site) {
      const path = site.path('/assets/every-byte.bin')
      const { bytes } = await site.workspace.read(path)
      const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes))).toString('hex')
      expectEqual((await site.run(`sha256sum < ${quote(path)}`)).stdout, `${digest}  -\n`, 'sha256sum')
    },
  },
]
