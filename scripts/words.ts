// Fails if a text reads like a translation, and lists the places. Part of `npm run lint`.
import { repositoryRoot } from './lib/run.ts'
import { headlessSentences, namelessActors, negatedNouns, ofOpenings, type Passage } from './lib/translated.ts'

process.chdir(repositoryRoot)
const problems = [
  ...described('begins with "what" or "who" and asks nothing: begin with the noun', headlessSentences()),
  ...described('says "is no": say "is not a"', negatedNouns()),
  ...described('opens with "Of": begin with the noun', ofOpenings()),
  ...described('says "nobody" or "somebody": name the actor', namelessActors()),
]
for (const problem of problems) console.error(problem)
console.log(`words: ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function described(problem: string, passages: readonly Passage[]): string[] {
  return passages.map(({ file, line, text }) => `${file}:${line}: ${problem}\n  ${text}`)
}
