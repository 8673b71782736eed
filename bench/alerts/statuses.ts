import type { Verdict } from '../../src/detection/index.ts'

/** First letters of statuses, as the store keeps them. */
export type Letter = 'o' | 'w' | 'c'

const LETTERS = { ok: 'o', warning: 'w', critical: 'c' } as const

/** What each probe of a site found, by slot. */
export class StatusLog {
  readonly probes = new Map<string, { slot: number; letter: Letter; message: string }[]>()

  add(probe: string, slot: number, { status, message }: Verdict): void {
    const found = this.probes.get(probe) ?? []
    found.push({ slot, letter: LETTERS[status], message })
    this.probes.set(probe, found)
  }
}
