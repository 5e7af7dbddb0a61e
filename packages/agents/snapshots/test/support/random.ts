import { seededRandom } from '@ws/test-fixtures'

export const randomOf = (seed: number): (() => number) => seededRandom(seed * 2_654_435_761 + 1)

export interface Pick {
  <Item>(items: readonly Item[]): Item
}

export function pickerOf(random: () => number): Pick {
  return (items) => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error('nothing to choose from')
    return item
  }
}
