import { Link } from '@tanstack/react-router'
import { MoonStar } from 'lucide-react'
import { useSession } from '../../api/session.ts'
import type { Today } from '../../api/today.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { counted } from '../../lib/words.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { AlertTimes } from '../alerts/AlertTimes.tsx'
import { sentence } from '../alerts/words.ts'
import { impactSentence } from '../incidents/impact.ts'
import { acknowledgedWords, joined, markOf, whereWords } from '../incidents/words.ts'
import { Section } from './sections.tsx'
import classes from './today.module.css'
import { calmWords, downWords, momentLine, nightWords } from './words.ts'

interface NightSectionProps {
  sites: number
  /** Number of sites that no probe has judged. */
  unjudged: number
  overnight: Today['overnight']
  zone: string
  directory: Directory
}

/** The incidents opened and resolved since the evening, and those unresolved. */
export function NightSection({ sites, unjudged, overnight, zone, directory }: NightSectionProps) {
  const { mayChange } = useSession()
  const since = `since ${momentLine(Date.parse(overnight.since), zone)}`
  const { incidents, opened, resolved, open } = overnight
  if (incidents.length === 0) {
    const [title, text] = calmWords(sites, unjudged, overnight)
    return (
      <Section title="Overnight" about={since}>
        <p className={classes.calm}>
          <MoonStar size={20} strokeWidth={1.5} aria-hidden />
          <span>
            <b>{title}</b>
            {text}
            {sites === 0 && mayChange && <TextLink to="/clients">Add a site</TextLink>}
          </span>
        </p>
      </Section>
    )
  }
  const more = open + resolved - incidents.length
  const down = downWords(overnight)
  return (
    <Section title="Overnight" about={`${nightWords({ ...overnight, opened, resolved, open })}, ${since}`}>
      <ul className={classes.lines}>
        {incidents.map((incident) => {
          const status = incident.state === 'resolved' ? 'ok' : markOf(incident)
          const word = incident.state === 'resolved' ? 'resolved' : STATUS_WORDS[status]
          return (
            <li key={incident.id}>
              <StatusMark
                status={status}
                label={word}
                variant={incident.state === 'acknowledged' ? 'outline' : 'filled'}
              />
              <span className={classes.what}>
                <Link to="/incidents/$incidentId" params={{ incidentId: incident.id }}>
                  {sentence(incident.title)}
                </Link>
                <span className={classes.muted}>
                  {joined([
                    whereWords(incident, [], directory),
                    impactSentence(incident.impact),
                    acknowledgedWords(incident),
                  ])}
                </span>
              </span>
              <span className={classes.when}>
                {incident.resolved_at === null ? (
                  <AlertTimes alert={incident} zone={zone} />
                ) : (
                  <>
                    resolved <RelativeTime at={incident.resolved_at} zone={zone} />
                  </>
                )}
              </span>
            </li>
          )
        })}
      </ul>
      {down !== null && <p className={classes.more}>{down}</p>}
      {more > 0 && (
        <p className={classes.more}>
          <TextLink to="/incidents">{counted(more, 'more incident')}</TextLink>
        </p>
      )}
    </Section>
  )
}
