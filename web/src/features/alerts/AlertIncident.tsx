import { Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type IncidentDetail, incidentQuery } from '../../api/incidents.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { Awaited } from '../../ui/States.tsx'
import { Notes } from '../incidents/Notes.tsx'
import { AlertList } from './AlertList.tsx'
import classes from './detail.module.css'
import { sentence } from './words.ts'

interface AlertIncidentProps {
  id: string
  /** The alert that the page is about. */
  alertId: string
  zone: string | undefined
}

/** The incident of an alert: what else has the same cause, the evidence, and people's notes. */
export function AlertIncident({ id, alertId, zone }: AlertIncidentProps) {
  // When the alert moves to another incident, the former one stays until that is here, and with it a note that is being typed.
  const { data, error, refetch } = useQuery({ ...incidentQuery(id), placeholderData: keepPreviousData })
  if (data === undefined) return <Awaited error={error} onRetry={() => void refetch()} height={96} />
  const others = data.alerts.filter((alert) => alert.id !== alertId)
  return (
    <Stack gap="sm" className={classes.before}>
      <p>
        {others.length === 0
          ? 'This is its only alert.'
          : `${data.alerts.length} alerts have one cause, and notifications are about all of them together.`}{' '}
        <TextLink to="/incidents/$incidentId" params={{ incidentId: data.id }}>
          Open the incident
        </TextLink>
        : {sentence(data.title)}
      </p>
      <Evidence evidence={data.evidence} />
      {others.length > 0 && <AlertList alerts={others} zone={zone} />}
      <Notes incident={data} zone={zone} />
    </Stack>
  )
}

/** Why the alerts are one incident. */
export function Evidence({ evidence }: Pick<IncidentDetail, 'evidence'>) {
  if (evidence.length === 0) return null
  return (
    <ul>
      {evidence.map((why) => (
        <li key={why}>{sentence(why)}</li>
      ))}
    </ul>
  )
}
