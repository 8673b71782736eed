import type { ReportContext } from '../analytics/index.ts'
import type { Digest } from '../management/index.ts'
import type { Store } from '../store/index.ts'

export type DigestKind = Exclude<Digest, 'off'>

/** Half-open, epoch ms. */
export interface Period {
  from: number
  to: number
}

/** What a digest is read from and written to. */
export interface DigestContext extends ReportContext {
  store: Store
}

/** A period that is over, and the one that it is measured against. */
export interface DuePeriod extends Period {
  /** When its digest was to be written. */
  dueAt: number
  before: Period
}

/** A digest that is to be written. */
export interface DueDigest {
  clientId: string
  kind: DigestKind
  timezone: string
  period: DuePeriod
}
