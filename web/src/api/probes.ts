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
import { useStreamEvent } from './stream.ts'

export type {
  CreateProbe,
  ExpectationRecord,
  ProbeRecord,
  ProbeTypeRecord,
  PushRecord,
  ResultRecord,
  UpdateProbe,
} from '../../../src/probes/index.ts'

const REFRESH_MS = 30_000
const PAGE = 50

/** What a probe can check; it changes with the program only. */
export const probeTypesQuery = queryOptions({
  queryKey: ['probe-types'],
  queryFn: ({ signal }) => request<ProbeTypeRecord[]>('/api/probe-types', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Everything about probes lies under this key. */
export const PROBES_KEY = ['probes'] as const

/** Probes of one site, or of all; `client_id`: of one client. */
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

/** The results of a probe, newest first, page after page; `changes`: only those that say something else than the one before. */
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
 * The last results of a probe, newest first; asked for again when there is a newer one, at `last_result_at`. A key of its own: what no
 * newer result changes need not be asked for with each change of the list, nor of a probe that is being deleted.
 */
export const stripQuery = ({ id, last_result_at }: Pick<ProbeRecord, 'id' | 'last_result_at'>) =>
  queryOptions({
    queryKey: ['probe-strip', id, last_result_at],
    queryFn: ({ signal }) => request<ResultRecord[]>(`/api/probes/${id}/results`, { query: { limit: PAGE }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  })

/** What a probe of counts expects hour by hour, of the last day and the next where no other hours are asked for; by what it knows now, or knew `as_of`. */
export const expectationQuery = (
  id: string,
  asked: { event_name?: string; from?: string; to?: string; as_of?: string },
) =>
  queryOptions({
    queryKey: [...PROBES_KEY, 'expectation', id, asked],
    queryFn: ({ signal }) => request<ExpectationRecord>(`/api/probes/${id}/expectation`, { query: asked, signal }),
    refetchInterval: 2 * REFRESH_MS,
  })

/** What a job calls, and what it said last. */
export const pushQuery = (id: string) =>
  queryOptions({
    queryKey: [...PROBES_KEY, 'push', id],
    queryFn: ({ signal }) => request<PushRecord>(`/api/probes/${id}/push`, { signal }),
    refetchInterval: REFRESH_MS,
  })

/** The one before opens nothing any more. */
export const useNewPushAddress = (id: string) =>
  useProbeChange(() => request<PushRecord>(`/api/probes/${id}/push/new-address`, { method: 'POST' }))

export const useCreateProbe = () =>
  useProbeChange((body: CreateProbe) => request<ProbeRecord>('/api/probes', { method: 'POST', body }))

export const useUpdateProbe = (id: string) =>
  useProbeChange((body: UpdateProbe) => request<ProbeRecord>(`/api/probes/${id}`, { method: 'PATCH', body }))

export const useDeleteProbe = (id: string) =>
  useProbeChange(() => request<undefined>(`/api/probes/${id}`, { method: 'DELETE' }), id)

/** Runs it now; the result counts like any other. */
export const useRunProbe = (id: string) =>
  useProbeChange(() => request<ResultRecord>(`/api/probes/${id}/run`, { method: 'POST' }))

/** The same for one that was made just now: the user who adds a probe wants to see that it works. */
export const useFirstRun = () =>
  useProbeChange((id: string) => request<ResultRecord>(`/api/probes/${id}/run`, { method: 'POST' }))

/** @param goneId what cannot be asked for any more */
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

/** Shows a probe's new status the moment it arrives. */
export function useProbeUpdates(): void {
  const client = useQueryClient()
  const refresh = useCallback(() => void client.invalidateQueries({ queryKey: PROBES_KEY }), [client])
  useStreamEvent('status', refresh)
}
