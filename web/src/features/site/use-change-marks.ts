import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { markersQuery } from '../../api/analytics.ts'
import { annotationsQuery } from '../../api/annotations.ts'
import type { DeployMark } from '../../ui/chart/time-chart-data.ts'
import { changeMarks, changesOf } from './changes.ts'
/** The marks of what changed at a site, for a chart from one time to another (epoch ms); none where nothing is asked for. */
export function useChangeMarks(siteId: string, from: number, to: number, enabled = true): DeployMark[] {
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const { data: markers } = useQuery({ ...markersQuery(siteId, range), enabled })
  const { data: annotations } = useQuery({ ...annotationsQuery(siteId, range.from, range.to), enabled })
  return useMemo(
    () => changeMarks(changesOf(markers ?? [], annotations ?? []), to - from),
    [markers, annotations, from, to],
  )
}
