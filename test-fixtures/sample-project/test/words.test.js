import assert from 'node:assert/strict'
import { test } from 'node:test'

import { countWords } from '../src/words.js'

test('counts words, whatever their case', () => {
  assert.deepEqual(countWords('One two\ntwo  ONE'), { one: 2, two: 2 })
})
