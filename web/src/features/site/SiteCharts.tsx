import { Anchor } from '@mantine/core'
import { useCallback } from 'react'
import { counted } from '../../lib/words.ts'
import { ContainersPanel } from './ContainersPanel.tsx'
import { EventsPanel } from './EventsPanel.tsx'
import { HeatPanel } from './HeatPanel.tsx'
import { LatencyPanel } from './LatencyPanel.tsx'
import { ProbesPanel } from './ProbesPanel.tsx'
import { QualityPanel } from './QualityPanel.tsx'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'
import type { Stretch } from './stretch.ts'
import { heatRows } from './tags.ts'

/** More rows than this need scrolling past; the table has all tags. */
const ROWS = 12

/** The whole site on one time axis. */
export function SiteCharts() {
  const { report, view } = useSite()
  const { setFocus, setTab } = view
  const pick = useCallback((name: string, picked?: Stretch) => setFocus({ kind: 'tag', name }, picked), [setFocus])
  const rows = heatRows(report.tags, report.previous?.tags)
  const rest = rows.length - ROWS
  return (
    <div className={classes.charts}>
      <EventsPanel />
      {rows.length > 0 && (
        <HeatPanel
          title="Tag health"
          group="tag_key"
          rows={rows.slice(0, ROWS)}
          onPick={pick}
          more={
            rest > 0 && (
              <Anchor component="button" size="sm" onClick={() => setTab('tags')}>
                {counted(rest, 'more tag')}
              </Anchor>
            )
          }
        />
      )}
      <LatencyPanel />
      <QualityPanel part="user_data" />
      <QualityPanel part="ecommerce" />
      <div className={classes.pair}>
        <ProbesPanel />
        <ContainersPanel />
      </div>
    </div>
  )
}
