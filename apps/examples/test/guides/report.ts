import { mkdir, readFile, writeFile } from 'node:fs/promises'

/** The code under test: it takes no file system, it imports one. */
export async function writeReport(): Promise<void> {
  const lines = (await readFile('/in/sales.csv', 'utf8')).trim().split('\n')
  await mkdir('/out', { recursive: true })
  await writeFile('/out/report.md', `# Sales\n\n${lines.length} lines\n`)
}
