import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { AddNote, Handling, IncidentDetail, IncidentSummary, NoteRecord } from '../../../src/alerts/index.ts'
import { ALERTS_KEY, REFRESH_MS, useAlertChange } from './alerts.ts'
import { request } from './client.ts'

export type { IncidentDetail, IncidentRecord, IncidentSummary } from '../../../src/alerts/index.ts'

/** The query parameters, named as in the API. */
export interface IncidentFilter {
  client_id?: string
  site_id?: string
  severity?: IncidentSummary['severity']
}

/** Maximum number in one answer. */
export const UNRESOLVED_MOST = 1_000

/** All unresolved incidents, newest first, up to `UNRESOLVED_MOST`: no one reads more one by one. */
export const unresolvedIncidentsQuery = (filter: IncidentFilter) =>
  queryOptions({
    queryKey: [...ALERTS_KEY, 'incidents', filter],
    queryFn: ({ signal }) =>
      request<IncidentSummary[]>('/api/incidents', {
        query: { ...filter, resolved: false, limit: UNRESOLVED_MOST },
        signal,
      }),
    refetchInterval: REFRESH_MS,
  })

/** Resolved incidents, the last resolved first, page after page. */
export const resolvedIncidentsQuery = (filter: IncidentFilter, limit: number) =>
  infiniteQueryOptions({
    queryKey: [...ALERTS_KEY, 'resolved incidents', filter, limit],
    queryFn: ({ signal, pageParam: before }) =>
      request<IncidentSummary[]>('/api/incidents', { query: { ...filter, order: 'resolved', before, limit }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page.length < limit ? null : (page.at(-1)?.id ?? null)),
    refetchInterval: REFRESH_MS,
  })

/** One incident: the alerts of one cause, and what people wrote about it. */
export const incidentQuery = (id: string) =>
  queryOptions({
    queryKey: [...ALERTS_KEY, 'incident', id],
    queryFn: ({ signal }) => request<IncidentDetail>(`/api/incidents/${id}`, { signal }),
    refetchInterval: REFRESH_MS,
  })

/** Acknowledges an incident with all its alerts, reverts that, or resolves it by hand. */
export const useHandleIncident = () =>
  useAlertChange(
    ({ id, verb, ...handling }: Handling & { id: string; verb: 'acknowledge' | 'unacknowledge' | 'resolve' }) =>
      request<IncidentDetail>(`/api/incidents/${id}/${verb}`, { method: 'POST', body: handling }),
  )

/** Adds a note to an incident. */
export const useAddNote = () =>
  useAlertChange(({ id, ...note }: AddNote & { id: string }) =>
    request<NoteRecord>(`/api/incidents/${id}/notes`, { method: 'POST', body: note }),
  )
