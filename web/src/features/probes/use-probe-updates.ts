import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { PROBES_KEY } from '../../api/probes.ts'
import { useStreamEvent } from '../../api/stream.ts'

/** Shows a probe's new status the moment it arrives. */
export function useProbeUpdates(): void {
  const client = useQueryClient()
  const refresh = useCallback(() => void client.invalidateQueries({ queryKey: PROBES_KEY }), [client])
  useStreamEvent('status', refresh)
}
