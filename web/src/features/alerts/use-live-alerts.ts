import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { ALERTS_KEY } from '../../api/alerts.ts'
import { PROBES_KEY, type ResultRecord, resultsQuery } from '../../api/probes.ts'
import { useStreamEvent } from '../../api/stream.ts'

/** What the stream does not report, an acknowledgement by someone else for example, is seen this often, ms. */
export const POLL_MS = 15_000

/** Asks for alerts and results again as soon as a probe has another status: that is when alerts begin, change and end. */
export function useLiveAlerts(): void {
  const client = useQueryClient()
  const refresh = useCallback(() => {
    void client.invalidateQueries({ queryKey: ALERTS_KEY })
    void client.invalidateQueries({ queryKey: [...PROBES_KEY, 'results'] })
  }, [client])
  useStreamEvent('status', refresh)
  useStreamEvent('alerts', refresh)
}

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
