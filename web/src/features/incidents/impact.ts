import type { IncidentDetail } from '../../api/incidents.ts'
import { unbroken } from '../../lib/words.ts'

export type Impact = NonNullable<IncidentDetail['impact']>

/** "Lost so far: 267 of 425 purchases (63 %)"; null when nothing was lost for certain. */
export const impactSentence = (impact: Impact | null): string | null =>
  impact === null || impact.summary === null
    ? null
    : unbroken(`Lost${impact.final ? '' : ' so far'}: ${impact.summary}`)
