import { useThrottledCallback } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { reportsKey } from '../../api/analytics.ts'
import { type SiteRecord, siteQuery } from '../../api/site.ts'
import { type StreamEvents, useStreamEvent } from '../../api/stream.ts'

/** A busy site has news every two seconds; its reports are asked for at most this often, ms. */
const REFRESH_MS = 4_000

/** Notes when the site receives something, the moment the stream says so. */
export function useArrivals(siteId: string): void {
  const client = useQueryClient()
  const refresh = useThrottledCallback(
    () => void client.invalidateQueries({ queryKey: reportsKey(siteId) }),
    REFRESH_MS,
  )
  const listener = useCallback(
    ({ sites }: StreamEvents['ingest']) => {
      const last_event_at = sites.find(({ id }) => id === siteId)?.last_event_at
      if (last_event_at === undefined) return
      client.setQueryData(
        siteQuery(siteId).queryKey,
        (site: SiteRecord | undefined) => site && { ...site, last_event_at },
      )
      refresh()
    },
    [client, siteId, refresh],
  )
  useStreamEvent('ingest', listener)
}
