import type { InnerFunction } from '../realm/index.ts'
import type { OtherTag, Plain, TagStatus } from '../types.ts'

/** The state of one firing of the template's own tag. */
export class TagRun {
  readonly startedAt: number
  readonly callbacks: InnerFunction[] = []
  readonly listeners: { type: string; callback: InnerFunction }[] = []
  readonly errors: string[] = []
  readonly requests = new Set<Promise<void>>()
  endedAt: number
  status: TagStatus | null = null
  /** The event has ended: it takes no callback any more. */
  over = false

  constructor(now: number) {
    this.startedAt = now
    this.endedAt = now
  }

  /** The first outcome stands. */
  end(status: TagStatus, now: number): void {
    if (this.status !== null) return
    this.status = status
    this.endedAt = now
  }
}

export type TagEntry = { readonly id: number } & Readonly<Record<string, Plain>>

/** Metadata lies flat on the entry; whether it could hide the entry's own keys is unverified, so it comes first. */
export function entryOf({ id, status, executionTime, metadata }: OtherTag): TagEntry {
  return { ...metadata, id, status, ...(executionTime === undefined ? {} : { executionTime }) }
}
