import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import type { CreateMaintenance, MaintenanceRecord, UpdateMaintenance } from '../../../src/alerts/index.ts'
import { request } from './client.ts'

export type { CreateMaintenance, MaintenanceRecord, UpdateMaintenance } from '../../../src/alerts/index.ts'

const REFRESH_MS = 60_000
/** Maximum number in one answer: more than a week's calendar could show. */
const MOST = 1_000

const MAINTENANCE_KEY = ['maintenance'] as const

/** Planned maintenance, newest first; `active_only` leaves out what is suspended or over. */
export const maintenanceQuery = (active_only: boolean) =>
  queryOptions({
    queryKey: [...MAINTENANCE_KEY, { active_only }],
    queryFn: ({ signal }) =>
      request<MaintenanceRecord[]>('/api/maintenance', { query: { active_only, limit: MOST }, signal }),
    refetchInterval: REFRESH_MS,
  })

export const usePlanMaintenance = () =>
  useMaintenanceChange((maintenance: CreateMaintenance) =>
    request<MaintenanceRecord>('/api/maintenance', { method: 'POST', body: maintenance }),
  )

export const useChangeMaintenance = () =>
  useMaintenanceChange(({ id, ...changes }: UpdateMaintenance & { id: string }) =>
    request<MaintenanceRecord>(`/api/maintenance/${id}`, { method: 'PATCH', body: changes }),
  )

export const useDeleteMaintenance = () =>
  useMaintenanceChange((id: string) => request<undefined>(`/api/maintenance/${id}`, { method: 'DELETE' }))

function useMaintenanceChange<V, T>(mutationFn: (variables: V) => Promise<T>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: MAINTENANCE_KEY }) })
}
