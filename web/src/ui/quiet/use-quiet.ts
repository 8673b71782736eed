import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { silencesQuery } from '../../api/alerts.ts'
import { maintenanceQuery } from '../../api/maintenance.ts'
import { type Quiet, quietNow, type Scope } from './quiet.ts'

/** What keeps messages back now; nothing before it is known. */
export function useQuiet(): readonly (Quiet & Scope)[] {
  const { data: silences } = useQuery(silencesQuery(true))
  const { data: maintenance } = useQuery(maintenanceQuery(true))
  return useMemo(() => quietNow(silences ?? [], maintenance ?? []), [silences, maintenance])
}
