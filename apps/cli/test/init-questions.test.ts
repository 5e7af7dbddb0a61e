import { expect, it } from 'vitest'

import { askChoices, type Choices } from '../src/commands/init/questions.ts'

const defaults: Choices = { root: '.', at: '/', protect: true, untrusted: false }

async function answer(...answers: string[]) {
  const [asked, complaints]: [string[], string[]] = [[], []]
  const ask = async (question: string): Promise<string | undefined> => {
    asked.push(question)
    return answers.shift()
  }
  const isDirectory = (path: string): boolean => path === '.' || path === 'src'
  const result = await askChoices(ask, (text) => void complaints.push(text), defaults, isDirectory).catch(String)
  return { result, asked, complaints }
}

it('init takes the defaults for empty answers', async () => {
  const { result, asked, complaints } = await answer('', '', '', '')
  expect(result).toEqual(defaults)
  expect(complaints).toEqual([])
  expect(asked[0]).toBe('Directory of the workspace [.] ')
  expect(Math.max(...asked.map((question) => question.length))).toBeLessThan(80)
})

it('init asks again after an answer that is not valid, with one line of help', async () => {
  const { result, complaints } = await answer('nowhere', 'src', 'workspace', '/workspace', 'maybe', 'N', 'yes')
  expect(result).toEqual({ root: 'src', at: '/workspace', protect: false, untrusted: true })
  expect(complaints).toEqual([
    'that is not a directory; give the path of one, such as `.`',
    expect.stringContaining('`workspace` is not absolute'),
    'give y or n',
  ])
})

it('init gives up after three wrong answers, and at the end of the input', async () => {
  expect((await answer('a', 'b', 'c')).result).toContain('that is not a directory')
  expect((await answer('')).result).toContain('the answers ended early; nothing was written')
})
