import { seededRandom } from '@ws/test-fixtures'

/** Choices that are the same for the same seed. */
export class Random {
  readonly next: () => number

  constructor(seed: number) {
    this.next = seededRandom(seed)
  }

  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  /** Some draws, joined. */
  many(least: number, most: number, draw: () => string): string {
    return Array.from({ length: least + this.below(most - least + 1) }, draw).join('')
  }
}
