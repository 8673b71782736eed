import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type SharedIncident, STATUS_PAGE_REFRESH_MS, sharedIncidentQuery } from '../../api/status.ts'
import { useNow } from '../../lib/external.ts'
import { onset } from '../../lib/onset.ts'
import { duration, relative, unbroken } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_SIGNS, useTab } from '../../ui/status/status.ts'
import { sharedLines } from './incident-lines.ts'
import { type Freshness, SharedData, Sheet } from './Sheet.tsx'
import { moment } from './sentence.ts'
import classes from './status.module.css'

/** One incident of a client, for anyone with the link of its status page. */
export function SharedIncidentPage() {
  const { token = '', incidentId = '' } = useParams({ strict: false })
  return (
    <SharedData
      title="Incident"
      query={useQuery(sharedIncidentQuery(token, incidentId))}
      draw={(incident, freshness) => <Loaded incident={incident} token={token} {...freshness} />}
    />
  )
}

interface LoadedProps extends Freshness {
  incident: SharedIncident
  token: string
}

function Loaded({ incident, token, readAt, isCutOff }: LoadedProps) {
  const now = useNow()
  const lines = sharedLines(incident)
  const isOver = incident.resolved_at !== null
  const status = isOver ? 'ok' : incident.severity
  useTab(`${STATUS_SIGNS[status]} ${incident.name}: ${incident.title}`, status)
  return (
    <Sheet
      title={incident.name}
      about="An incident of its server-side tags"
      accent={incident.looks.accent}
      logo={incident.looks.logo === null ? null : `/api/status/${token}/logo`}
    >
      <p className={classes.verdict} data-status={status}>
        <StatusMark status={status} size={22} />
        {unbroken(incident.title)}
      </p>
      <p className={classes.text}>{stateOf(incident, now)}</p>
      {incident.loss !== null && (
        <p>
          Lost{isOver ? '' : ' so far'}: {unbroken(incident.loss)}
        </p>
      )}
      <h2 className={classes.heading}>What is affected</h2>
      <ul className={classes.sites}>
        {incident.sites.map(({ name, alerts }) => (
          <li key={name} className={classes.site}>
            <h3 className={classes.name}>{name}</h3>
            <ul className={classes.alerts} aria-label={`Problems of ${name}`}>
              {alerts.map((alert, index) => (
                <Affected key={keyOf(index)} alert={alert} now={now} />
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {incident.evidence.length > 0 && (
        <>
          <h2 className={classes.heading}>Evidence</h2>
          <ul className={classes.reasons}>
            {incident.evidence.map((why) => (
              <li key={why}>{unbroken(why)}</li>
            ))}
          </ul>
        </>
      )}
      {lines.length > 0 && (
        <>
          <h2 className={classes.heading}>What happened</h2>
          <ol className={classes.reasons}>
            {lines.map(({ key, at, head, text }) => (
              <li key={key}>
                <time dateTime={at}>{moment(Date.parse(at), now)}</time>: {head}
                {text !== null && <span className={classes.muted}> · {unbroken(text)}</span>}
              </li>
            ))}
          </ol>
        </>
      )}
      <p className={classes.note} role="status">
        {isCutOff
          ? `Tagwarden cannot be reached: this is how it was ${relative(readAt, now)}. Trying again.`
          : `As of ${relative(readAt, now)}, refreshed automatically every ${duration(STATUS_PAGE_REFRESH_MS)}. Times are in ${ownZone()}.`}
      </p>
      <p className={classes.note}>
        <Link to="/status/$token" params={{ token }}>
          How all sites of {incident.name} are doing
        </Link>
      </p>
    </Sheet>
  )
}

/** The answer has no ids. Indexes do as keys, because a line depends only on its alert. */
const keyOf = (index: number): string => `alert ${index}`

function stateOf({ state, started_at, opened_at, resolved_at }: SharedIncident, now: number): string {
  const began = Date.parse(started_at)
  if (resolved_at !== null) {
    const ended = Date.parse(resolved_at)
    return `Resolved: from ${moment(began, now)} to ${moment(ended, now)} (${duration(ended - began)})`
  }
  const words = onset({ started_at, opened_at }, (at) => moment(at, now))
  const seen = words.detected === null ? '' : `, ${words.detected}`
  const taken = state === 'acknowledged' ? 'Someone is on it' : 'Not acknowledged yet'
  return `${taken}: ${words.began}${seen} (${duration(now - began)})`
}

function Affected({ alert, now }: { alert: SharedIncident['sites'][number]['alerts'][number]; now: number }) {
  const { began, detected } = onset(alert, (at) => moment(at, now))
  const isOver = alert.resolved_at !== null
  return (
    <li>
      <StatusMark
        status={alert.severity}
        size={10}
        label={alert.severity}
        variant={alert.state === 'open' ? 'filled' : 'outline'}
      />
      <span>
        {unbroken(alert.title)}{' '}
        <span className={classes.muted}>
          · {began}
          {detected !== null && ` · ${detected}`}
          {isOver && ` · resolved ${moment(Date.parse(alert.resolved_at ?? ''), now)}`}
        </span>
      </span>
    </li>
  )
}
