import { useInfiniteQuery } from '@tanstack/react-query'
import { type ResultRecord, resultsQuery } from '../../api/probes.ts'
import { POLL_MS } from './use-live-alerts.ts'

/** Enough to show what was before the alert: 17 hours of a probe that runs each five minutes. */
const MOST = 200

/** The last results of a probe, newest first; the chart and the table share them. */
export function useResults(probeId: string) {
  return useInfiniteQuery({
    ...resultsQuery(probeId, MOST),
    select: ({ pages }): readonly ResultRecord[] => pages.flat(),
    refetchInterval: POLL_MS,
  })
}
