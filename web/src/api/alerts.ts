import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type {
  AlertDetail,
  AlertRecord,
  CreateSilence,
  FeedbackRecord,
  GiveFeedback,
  Handling,
  SilenceRecord,
} from '../../../src/alerts/index.ts'
import { request } from './client.ts'
import { overviewQuery } from './overview.ts'

export type { AlertDetail, AlertRecord, SilenceRecord } from '../../../src/alerts/index.ts'

/** Prefix of the keys of all queries about alerts, incidents and silences. */
export const ALERTS_KEY = ['alerts'] as const

export const REFRESH_MS = 60_000

/** The query parameters, named as in the API. */
export interface AlertFilter {
  client_id?: string
  site_id?: string
  probe_id?: string
  severity?: AlertRecord['severity']
  resolved?: boolean
  limit?: number
}

/** A page of alerts, newest first. */
export const alertsQuery = (filter: AlertFilter) =>
  queryOptions({
    queryKey: [...ALERTS_KEY, 'list', filter],
    queryFn: ({ signal }) => request<AlertRecord[]>('/api/alerts', { query: { ...filter }, signal }),
    refetchInterval: REFRESH_MS,
  })

/** Resolved alerts, the last resolved first, page after page. */
export const resolvedAlertsQuery = (filter: Omit<AlertFilter, 'resolved' | 'limit'>, limit: number) =>
  infiniteQueryOptions({
    queryKey: [...ALERTS_KEY, 'resolved', filter, limit],
    queryFn: ({ signal, pageParam: before }) =>
      request<AlertRecord[]>('/api/alerts', { query: { ...filter, order: 'resolved', before, limit }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page.length < limit ? null : (page.at(-1)?.id ?? null)),
    refetchInterval: REFRESH_MS,
  })

/** One alert in detail: since when it is bad, what explains it, and what changed before. */
export const alertQuery = (id: string) =>
  queryOptions({
    queryKey: [...ALERTS_KEY, 'one', id],
    queryFn: ({ signal }) => request<AlertDetail>(`/api/alerts/${id}`, { signal }),
    refetchInterval: REFRESH_MS,
  })

/** All silences, newest first; with `active_only`, those in effect. */
export const silencesQuery = (active_only: boolean) =>
  queryOptions({
    queryKey: [...ALERTS_KEY, 'silences', { active_only }],
    queryFn: ({ signal }) =>
      request<SilenceRecord[]>('/api/silences', { query: { active_only, limit: 1_000 }, signal }),
    refetchInterval: REFRESH_MS,
  })

/** Acknowledges an alert, reverts that, or resolves it by hand. */
export const useHandleAlert = () =>
  useAlertChange(
    ({ id, verb, ...handling }: Handling & { id: string; verb: 'acknowledge' | 'unacknowledge' | 'resolve' }) =>
      request<AlertRecord>(`/api/alerts/${id}/${verb}`, { method: 'POST', body: handling }),
  )

/** Records whether an alert was right. */
export const useGiveFeedback = () =>
  useAlertChange(({ id, ...feedback }: GiveFeedback & { id: string }) =>
    request<FeedbackRecord>(`/api/alerts/${id}/feedback`, { method: 'POST', body: feedback }),
  )

export const useWithdrawFeedback = () =>
  useAlertChange((id: string) => request<undefined>(`/api/alerts/${id}/feedback`, { method: 'DELETE' }))

export const useSilence = () =>
  useAlertChange((silence: CreateSilence) => request<SilenceRecord>('/api/silences', { method: 'POST', body: silence }))

export const useEndSilence = () =>
  useAlertChange((id: string) => request<undefined>(`/api/silences/${id}`, { method: 'DELETE' }))

/** A change of alerts or incidents, after which all queries under `ALERTS_KEY` are invalidated. */
export function useAlertChange<V, T>(mutationFn: (variables: V) => Promise<T>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ALERTS_KEY }),
        client.invalidateQueries({ queryKey: overviewQuery.queryKey }),
      ]),
  })
}
