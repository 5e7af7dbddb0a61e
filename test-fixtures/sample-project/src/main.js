import { readFileSync } from 'node:fs'

import { countWords } from './words.js'

const file = process.argv[2] ?? new URL('../docs/poem.txt', import.meta.url)
const counts = countWords(readFileSync(file, 'utf8'))
console.log(Object.values(counts).reduce((sum, count) => sum + count, 0))
