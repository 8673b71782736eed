import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type {
  CreateProbe,
  ExpectationRecord,
  ProbeRecord,
  ProbeTypeRecord,
  PushRecord,
  ResultRecord,
  UpdateProbe,
} from '../../../src/probes/index.ts'
import { request } from './client.ts'
import { overviewQuery } from './overview.ts'
import { refresh } from './query-client.ts'
import { useStreamEvent } from './stream.ts'

export type {
  ExpectationRecord,
  ProbeRecord,
  ProbeTypeRecord,
  PushRecord,
  ResultRecord,
} from '../../../src/probes/index.ts'

const REFRESH_MS = 30_000
const PAGE = 50

/** The types of probes, which change only with a new version. */
export const probeTypesQuery = queryOptions({
  queryKey: ['probe-types'],
  queryFn: ({ signal }) => request<ProbeTypeRecord[]>('/api/probe-types', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Prefix of the keys of all queries about probes. */
export const PROBES_KEY = ['probes'] as const

/** The probes of one site, of one client with `client_id`, or all. */
export const probesQuery = (site_id: string | undefined, client_id?: string) =>
  queryOptions({
    queryKey: [...PROBES_KEY, 'list', { site_id, client_id }],
    queryFn: ({ signal }) => request<ProbeRecord[]>('/api/probes', { query: { site_id, client_id }, signal }),
    refetchInterval: REFRESH_MS,
  })

export const probeQuery = (id: string) =>
  queryOptions({
    queryKey: [...PROBES_KEY, 'one', id],
    queryFn: ({ signal }) => request<ProbeRecord>(`/api/probes/${id}`, { signal }),
    refetchInterval: REFRESH_MS,
  })

/** The results of a probe, newest first, page by page; with `changes`, only those that differ from the one before. */
export const resultsQuery = (id: string, limit = PAGE, changes = false) =>
  infiniteQueryOptions({
    queryKey: [...PROBES_KEY, 'results', id, limit, changes],
    queryFn: ({ signal, pageParam }) =>
      request<ResultRecord[]>(`/api/probes/${id}/results`, {
        query: { before: pageParam, limit, changes: changes ? 'true' : undefined },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page.length < limit ? null : (page.at(-1)?.id ?? null)),
    refetchInterval: REFRESH_MS,
  })

/**
 * The latest results of a probe, newest first; refetched when `last_result_at` changes. Not under `PROBES_KEY`, so that changes of the
 * list, or deleting the probe, do not refetch it.
 */
export const stripQuery = ({ id, last_result_at }: Pick<ProbeRecord, 'id' | 'last_result_at'>) =>
  queryOptions({
    queryKey: ['probe-strip', id, last_result_at],
    queryFn: ({ signal }) => request<ResultRecord[]>(`/api/probes/${id}/results`, { query: { limit: PAGE }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  })

/**
 * What a probe that judges counts expects hour by hour, by default of the last day and the next, by what it knows now or knew at
 * `as_of`.
 */
export const expectationQuery = (
  id: string,
  asked: { event_name?: string; from?: string; to?: string; as_of?: string },
) =>
  queryOptions({
    queryKey: [...PROBES_KEY, 'expectation', id, asked],
    queryFn: ({ signal }) => request<ExpectationRecord>(`/api/probes/${id}/expectation`, { query: asked, signal }),
    refetchInterval: 2 * REFRESH_MS,
  })

/** The address that a job calls, and its last call. */
export const pushQuery = (id: string) =>
  queryOptions({
    queryKey: [...PROBES_KEY, 'push', id],
    queryFn: ({ signal }) => request<PushRecord>(`/api/probes/${id}/push`, { signal }),
    refetchInterval: REFRESH_MS,
  })

/** Replaces the address; the previous one stops working. */
export const useNewPushAddress = (id: string) =>
  useProbeChange(() => request<PushRecord>(`/api/probes/${id}/push/new-address`, { method: 'POST' }))

export const useCreateProbe = () =>
  useProbeChange((body: CreateProbe) => request<ProbeRecord>('/api/probes', { method: 'POST', body }))

export const useUpdateProbe = (id: string) =>
  useProbeChange((body: UpdateProbe) => request<ProbeRecord>(`/api/probes/${id}`, { method: 'PATCH', body }))

export const useDeleteProbe = (id: string) =>
  useProbeChange(() => request<undefined>(`/api/probes/${id}`, { method: 'DELETE' }), id)

/** Runs the probe now; the result counts like any other. */
export const useRunProbe = (id: string) =>
  useProbeChange(() => request<ResultRecord>(`/api/probes/${id}/run`, { method: 'POST' }))

/** Runs a new probe at once, because the user who adds it wants to see that it works. */
export const useFirstRun = () =>
  useProbeChange((id: string) => request<ResultRecord>(`/api/probes/${id}/run`, { method: 'POST' }))

/** @param goneId id of the deleted probe, whose queries are removed */
function useProbeChange<V, T>(mutationFn: (variables: V) => Promise<T>, goneId?: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn,
    onSuccess: () =>
      Promise.all(
        [PROBES_KEY, ['site'], overviewQuery.queryKey].map((queryKey) =>
          client.invalidateQueries({ queryKey, predicate: (query) => !query.queryKey.includes(goneId) }),
        ),
      ),
  })
}

/** Refetches probes as soon as the stream reports a new status. */
export function useProbeUpdates(): void {
  const client = useQueryClient()
  const listener = useCallback(() => refresh(client, { queryKey: PROBES_KEY }), [client])
  useStreamEvent('status', listener)
}
