import { createMemoryAdapter } from '@ws/adapter-memory'
import { createThreads } from '@ws/threads'
import { formatCatalogue } from '../src/skills/skills.ts'
import { describe, expect, it } from 'vitest'

const skill = (text: string, body = 'Body.\n'): string => `---\n${text}\n---\n${body}`

async function open(files: Record<string, string>) {
  const threads = await createThreads({ store: createMemoryAdapter({ files }), provision: false })
  return threads.open({ threadId: 't1', userId: 'u1' })
}

describe('skills', () => {
  it('are found in subfolders, sorted by name, with all fields of the standard', async () => {
    const thread = await open({
      '/skills/system/b/SKILL.md': skill(
        'name: b\ndescription: Does b.\nlicense: MIT\ncompatibility: any\nmetadata:\n  version: 1\nallowed-tools: Read Bash(git:*)',
      ),
      '/skills/system/group/a/SKILL.md': skill('name: a\ndescription: Does a.'),
      '/skills/system/node_modules/c/SKILL.md': skill('name: c\ndescription: Not looked at.'),
      '/skills/system/d/skill.md': skill('name: d\ndescription: Another file name.'),
    })
    const { skills, warnings } = await thread.listSkills()
    expect(warnings).toEqual([])
    expect(skills.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(skills[1]).toEqual({
      name: 'b',
      description: 'Does b.',
      license: 'MIT',
      compatibility: 'any',
      metadata: { version: '1' },
      allowedTools: ['Read', 'Bash(git:*)'],
      path: '/.solven/skills/system/b',
      location: '/.solven/skills/system/b/SKILL.md',
      source: 'system',
    })
  })

  it('of the user win over those of the system, with a note', async () => {
    const thread = await open({
      '/skills/system/a/SKILL.md': skill('name: a\ndescription: Of the system.'),
      '/skills/u1/a/SKILL.md': skill('name: a\ndescription: My own.'),
    })
    const { skills, warnings } = await thread.listSkills()
    expect(skills).toMatchObject([{ description: 'My own.', source: 'user' }])
    expect(warnings).toEqual([
      '`/.solven/skills/u1/a/SKILL.md` replaces `/.solven/skills/system/a/SKILL.md`, which has the same name',
    ])
  })

  it.each([
    ['no frontmatter', 'text', 'does not begin with frontmatter'],
    ['no description', skill('name: a'), 'has no `description`'],
    ['a blank description', skill('name: a\ndescription: " "'), 'has no `description`'],
    ['YAML that cannot be read', skill('name: [a\ndescription: x'), 'is not YAML'],
    ['a description that is a list', skill('description: [a]'), 'has no `description`'],
  ])('with %s are left out, with a warning', async (_, text, reason) => {
    const { skills, warnings } = await (await open({ '/skills/system/a/SKILL.md': text })).listSkills()
    expect(skills).toEqual([])
    expect(warnings).toEqual([expect.stringContaining(reason)])
  })

  it('are read in spite of small faults', async () => {
    const thread = await open({
      '/skills/system/a/SKILL.md': skill('name: a\ndescription: Use when: the user asks: twice'),
      '/skills/system/b/SKILL.md': skill('name: other\ndescription: Another name.'),
      '/skills/system/c/SKILL.md': '\uFEFF---\r\ndescription: CRLF.\r\n---\r\nBody.\r\n',
      '/skills/system/D/SKILL.md': skill('description: A capital.\nlicense: [1]'),
    })
    const { skills, warnings } = await thread.listSkills()
    expect(skills.map(({ name, description }) => [name, description])).toEqual([
      ['D', 'A capital.'],
      ['a', 'Use when: the user asks: twice'],
      ['c', 'CRLF.'],
      ['other', 'Another name.'],
    ])
    expect(warnings).toHaveLength(2)
  })

  it('have a catalogue for a prompt, in which names and descriptions cannot act', async () => {
    const thread = await open({ '/skills/system/a/SKILL.md': skill('name: a\ndescription: "</skill><b> & more"') })
    expect(await thread.formatCatalogue()).toBe(
      [
        '<available_skills>',
        '  <skill>',
        '    <name>a</name>',
        '    <description>&lt;/skill&gt;&lt;b&gt; &amp; more</description>',
        '    <location>/.solven/skills/system/a/SKILL.md</location>',
        '  </skill>',
        '</available_skills>',
        '',
      ].join('\n'),
    )
    expect(formatCatalogue([])).toBe('')
  })

  it('are activated by name', async () => {
    const thread = await open({ '/skills/system/a/SKILL.md': skill('name: a\ndescription: Does a.', '# Do\n') })
    expect(await thread.activate('a')).toMatchObject({ name: 'a', body: '# Do\n' })
    await expect(thread.activate('b')).rejects.toMatchObject({ code: 'ENOENT', remedy: 'choose one of `a`' })
  })
})
