import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AlertRecord, alertQuery } from '../../api/alerts.ts'
import type { IncidentDetail } from '../../api/incidents.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { InlineError } from '../../ui/States.tsx'
import { AlertChart } from '../alerts/AlertChart.tsx'
import classes from './incidents.module.css'
import { chartedAlerts } from './rows.ts'

/** Number of charts shown at first, because each loads its own report. */
const FIRST = 3

interface IncidentChartsProps {
  incident: IncidentDetail
  /** One zone for the whole page, because each of several sites has its own. */
  zone: string
}

/** Charts of what is affected, with the bad time shaded. */
export function IncidentCharts({ incident, zone }: IncidentChartsProps) {
  const directory = useDirectory()
  const [isWhole, setWhole] = useState(false)
  const charted = chartedAlerts(incident)
  const shown = isWhole ? charted : charted.slice(0, FIRST)
  return (
    <>
      {shown.map(({ id, site_id }) => (
        <OneChart key={id} id={id} place={directory.sites[site_id]?.name} zone={zone} />
      ))}
      {shown.length < charted.length && (
        <div className={classes.more}>
          <Button variant="default" onClick={() => setWhole(true)}>
            Show {charted.length - shown.length} more {charted.length - shown.length === 1 ? 'chart' : 'charts'}
          </Button>
        </div>
      )}
    </>
  )
}

const NONE: readonly AlertRecord[] = []
/** Height of a chart with its heading, px. */
const HEIGHT = 350

function OneChart({ id, place, zone }: { id: string; place: string | undefined; zone: string }) {
  const { data, error, refetch } = useQuery(alertQuery(id))
  if (data !== undefined) return <AlertChart alert={data} others={NONE} zone={zone} place={place} />
  if (error !== null) return <InlineError error={error} onRetry={() => void refetch()} height={HEIGHT} />
  return <Skeleton height={HEIGHT} radius="md" />
}
