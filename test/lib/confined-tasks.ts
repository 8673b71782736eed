/** Tasks of a thread under test. */
export const tasks = {
  double: ({ n }: { n: number }): number => 2 * n,
  throwing: (): never => {
    throw new Error('no such page')
  },
  endless: (): never => {
    for (;;);
  },
  hoarding: (): number => {
    const kept: unknown[] = []
    for (;;) kept.push({ text: String(kept.length), next: [kept.length] })
  },
  size: ({ bytes }: { bytes: Uint8Array }): number => bytes.length,
}
