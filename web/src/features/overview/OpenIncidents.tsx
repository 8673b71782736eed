import { Link } from '@tanstack/react-router'
import type { Overview } from '../../api/overview.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { counted } from '../../lib/words.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { AlertTimes } from '../alerts/AlertTimes.tsx'
import { sentence } from '../alerts/words.ts'
import { acknowledgedWords, joined, markOf, whereWords } from '../incidents/words.ts'
import classes from './OpenIncidents.module.css'

/** Few enough that the list below is visible without scrolling. */
const SHOWN = 5

/** The open incidents, most urgent first, one line each. */
export function OpenIncidents({ incidents, incidents_left_out }: Pick<Overview, 'incidents' | 'incidents_left_out'>) {
  const directory = useDirectory()
  if (incidents.length === 0) return null
  const more = incidents.length + incidents_left_out - SHOWN
  return (
    <section className={classes.panel} aria-label="Open incidents">
      <ul>
        {incidents.slice(0, SHOWN).map((incident) => {
          const status = markOf(incident)
          return (
            <li key={incident.id}>
              <StatusMark
                status={status}
                label={STATUS_WORDS[status]}
                variant={incident.state === 'open' ? 'filled' : 'outline'}
              />
              <Link to="/incidents/$incidentId" params={{ incidentId: incident.id }} className={classes.title}>
                {sentence(incident.title)}
              </Link>
              <span className={classes.where}>
                {joined([whereWords(incident, [], directory), acknowledgedWords(incident)])}
              </span>
              <AlertTimes alert={incident} zone={directory.sites[incident.site_id ?? '']?.timezone} />
            </li>
          )
        })}
      </ul>
      {more > 0 && (
        <p className={classes.more}>
          <TextLink to="/incidents">{counted(more, 'more incident')}</TextLink>
        </p>
      )}
    </section>
  )
}
