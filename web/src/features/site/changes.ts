import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type MarkersAnswer, markersQuery } from '../../api/analytics.ts'
import { type AnnotationRecord, annotationsQuery } from '../../api/annotations.ts'
import type { DeployMark } from '../../ui/chart/points.ts'

/** A change at a site: a published version, or an annotation of a person or pipeline. */
export interface SiteChange {
  /** epoch ms */
  at: number
  what: string
  /** The annotation, if it is one. */
  annotation?: AnnotationRecord
}

/** Oldest first. */
export const changesOf = (markers: MarkersAnswer, annotations: readonly AnnotationRecord[]): SiteChange[] =>
  [
    ...markers.map(({ at, source, to_version }) => ({
      at: Date.parse(at),
      what: `${source.replace(/ container$/, '')} ${to_version}`,
    })),
    ...annotations.map((annotation) => ({ at: Date.parse(annotation.at), what: annotation.text, annotation })),
  ].sort((a, b) => a.at - b.at)

/** Share of a chart's width that a name takes on a phone … */
const LABEL_WIDTH = 0.16
/** … and its maximum length in characters. */
const LABEL_LENGTH = 18

/**
 * Marks such as "web 42" at the time of each change. Where names would overlap only the latest is kept; the others are lines.
 *
 * @param length of the window, ms
 */
export function changeMarks(changes: readonly SiteChange[], length: number): DeployMark[] {
  let free = Number.POSITIVE_INFINITY
  return changes.toReversed().map(({ at, what }) => {
    if (at > free) return { at }
    free = at - length * LABEL_WIDTH
    return { at, label: what.length > LABEL_LENGTH ? `${what.slice(0, LABEL_LENGTH - 1).trimEnd()}…` : what }
  })
}

/** The marks of a site's changes for a chart of this time, epoch ms; none unless `enabled`. */
export function useChangeMarks(siteId: string, from: number, to: number, enabled = true): DeployMark[] {
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const { data: markers } = useQuery({ ...markersQuery(siteId, range), enabled })
  const { data: annotations } = useQuery({ ...annotationsQuery(siteId, range.from, range.to), enabled })
  return useMemo(
    () => changeMarks(changesOf(markers ?? [], annotations ?? []), to - from),
    [markers, annotations, from, to],
  )
}
