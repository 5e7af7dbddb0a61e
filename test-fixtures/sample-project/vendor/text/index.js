/** Lower case, without punctuation at either end. */
export const normalise = (word) => word.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
