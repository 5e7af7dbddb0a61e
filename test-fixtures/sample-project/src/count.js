import { normalise } from '@sample/text'

import { countWords } from './words.js'

export const count = (text) => countWords(text, normalise)
