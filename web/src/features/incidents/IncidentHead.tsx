import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BellOff, BellRing } from 'lucide-react'
import { useEndSilence } from '../../api/alerts.ts'
import { type IncidentDetail, incidentQuery, useHandleIncident } from '../../api/incidents.ts'
import { saidBy, useMyName, useSession } from '../../api/session.ts'
import { notifyOf } from '../../lib/refusal.ts'
import type { DirectorySite } from '../../lib/use-directory.ts'
import { counted, personName } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { mutesOfAll, useMutes } from '../../ui/mute/mutes.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { StatusBadge, StatusMark } from '../../ui/status/StatusMark.tsx'
import { useUndoAcknowledgingIncidents } from '../../ui/undo.tsx'
import classes from '../alerts/detail.module.css'
import { Since } from '../alerts/detail-parts.tsx'
import { HandlePopover } from '../alerts/HandlePopover.tsx'
import { sentence } from '../alerts/words.ts'
import { SilenceIncident } from './SilenceIncident.tsx'
import { markOf } from './words.ts'

interface IncidentHeadProps {
  incident: IncidentDetail
  site: DirectorySite | undefined
}

/** What is wrong, where, since when, and who is working on it. */
export function IncidentHead({ incident, site }: IncidentHeadProps) {
  const status = markOf(incident)
  const silences = useSilences(incident)
  const isOver = incident.state === 'resolved'
  const variant = silences !== null ? 'hatched' : incident.state === 'open' ? 'filled' : 'outline'
  const { severity, state, alert_count, site_count, acknowledged_by } = incident
  return (
    <PageHeader
      title={sentence(incident.title)}
      parents={PARENTS}
      mark={<StatusMark status={status} size={16} variant={variant} />}
      actions={<Actions incident={incident} zone={site?.timezone ?? ownZone()} silences={silences} />}
    >
      <span className={classes.facts}>
        <StatusBadge status={isOver ? 'ok' : status} variant={variant}>
          {isOver ? 'resolved' : `${severity}, ${state}`}
        </StatusBadge>
        {site === undefined ? (
          <span>{counted(site_count, 'site')}</span>
        ) : (
          <TextLink to="/sites/$siteId" params={{ siteId: site.id }}>
            {site.name}, {site.client_name}
          </TextLink>
        )}
        <Since alert={incident} zone={site?.timezone} />
        <span>{counted(alert_count, 'alert')}</span>
        {!isOver && acknowledged_by !== null && <span>acknowledged by {personName(acknowledged_by)}</span>}
        {silences !== null && <span>silenced</span>}
        {incident.parent_id !== null && <PartOf id={incident.parent_id} />}
      </span>
    </PageHeader>
  )
}

const PARENTS = [{ label: 'Incidents', to: '/incidents' }]

/** The ids of the silences that mute the whole incident; null while one of its alerts can still notify. */
function useSilences({ id, alerts }: IncidentDetail): string[] | null {
  const lasting = alerts.filter(({ state }) => state !== 'resolved')
  const found = mutesOfAll(useMutes(), id, lasting)
  if (found === null || !found.every(({ kind }) => kind === 'silence')) return null
  return [...new Set(found.map((mute) => mute.id))]
}

function PartOf({ id }: { id: string }) {
  const { data } = useQuery(incidentQuery(id))
  if (data === undefined) return null
  return (
    <span>
      part of{' '}
      <TextLink to="/incidents/$incidentId" params={{ incidentId: id }}>
        {sentence(data.title)}
      </TextLink>
    </span>
  )
}

interface ActionsProps {
  incident: IncidentDetail
  zone: string
  silences: readonly string[] | null
}

/** The actions on an unresolved incident, which apply to all its alerts. */
function Actions({ incident: { id, state, alerts }, zone, silences }: ActionsProps) {
  const { mayChange } = useSession()
  const end = useEndSilence()
  const { mutateAsync, mutate, isPending } = useHandleIncident()
  const offerUndo = useUndoAcknowledgingIncidents()
  const [name] = useMyName()
  if (!mayChange || state === 'resolved') return null
  return (
    <>
      {state === 'open' && (
        <HandlePopover
          action="Acknowledge"
          variant="filled"
          run={(said) => mutateAsync({ id, verb: 'acknowledge', ...said }).then(() => offerUndo([id]))}
        >
          Says that someone is working on all of it. Stops reminders.
        </HandlePopover>
      )}
      {state === 'acknowledged' && (
        <Button
          variant="default"
          loading={isPending}
          onClick={() => mutate({ id, verb: 'unacknowledge', ...saidBy(name) }, { onError: failed })}
        >
          Un-acknowledge
        </Button>
      )}
      {silences === null ? (
        <SilenceIncident id={id} alerts={alerts} zone={zone}>
          <Button variant="default" leftSection={<BellOff size={16} aria-hidden />}>
            Silence
          </Button>
        </SilenceIncident>
      ) : (
        <Button
          variant="default"
          leftSection={<BellRing size={16} aria-hidden />}
          loading={end.isPending}
          onClick={() => void Promise.all(silences.map((one) => end.mutateAsync(one))).catch(failed)}
        >
          End the silence
        </Button>
      )}
      <HandlePopover action="Resolve" run={(said) => mutateAsync({ id, verb: 'resolve', ...said })}>
        Resolves all of its alerts by hand. If the next result is bad too, another incident opens.
      </HandlePopover>
    </>
  )
}

const failed = notifyOf('Not changed')
