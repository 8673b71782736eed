import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type ServiceSettings, settingsQuery } from '../../api/settings.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'

/** Shows something of the settings in effect, once they are there. */
export function WithSettings({ children }: { children: (settings: ServiceSettings) => ReactNode }) {
  const { data, error, refetch } = useQuery(settingsQuery)
  if (data !== undefined) return children(data)
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  return <Skeleton height={180} radius="md" aria-busy="true" />
}
