import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { ALERTS_KEY } from '../../api/alerts.ts'
import { PROBES_KEY, type ResultRecord, resultsQuery } from '../../api/probes.ts'
import { refresh } from '../../api/query-client.ts'
import { useStreamEvent } from '../../api/stream.ts'

/** Poll interval for changes that the stream does not report, such as someone else's acknowledgement, ms. */
export const POLL_MS = 15_000

/** What happened at one moment comes as two messages, at most so far apart, ms: its lists are requested once. */
const TOGETHER_MS = 100

/** Refetches alerts and results when a probe's status changes, because that is when alerts open, change and resolve. */
export function useLiveAlerts(): void {
  const client = useQueryClient()
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const listener = useCallback(() => {
    waiting.current ??= setTimeout(() => {
      waiting.current = undefined
      refresh(client, { queryKey: ALERTS_KEY })
      refresh(client, { queryKey: [...PROBES_KEY, 'results'] })
    }, TOGETHER_MS)
  }, [client])
  useStreamEvent('status', listener)
  useStreamEvent('alerts', listener)
}

/** Enough to show the time before the alert: about 17 hours of a probe that runs every five minutes. */
const MOST = 200

/** The last results of a probe, newest first; the chart and the table share them. */
export function useResults(probeId: string) {
  return useInfiniteQuery({
    ...resultsQuery(probeId, MOST),
    select: ({ pages }): readonly ResultRecord[] => pages.flat(),
    refetchInterval: POLL_MS,
  })
}
