import {
  ArrowUpRight,
  BellOff,
  CircleAlert,
  CircleCheck,
  GitMerge,
  Hand,
  Lightbulb,
  LogOut,
  type LucideIcon,
  MessageSquare,
  Network,
  PhoneForwarded,
  Plus,
  Radar,
  Send,
} from 'lucide-react'
import type { IncidentDetail } from '../../api/incidents.ts'
import { useNow } from '../../lib/external.ts'
import { personName } from '../../lib/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import classes from '../alerts/detail.module.css'
import { DeliveryLine } from '../alerts/Timeline.tsx'
import { clockTime, sentence, timesIn } from '../alerts/words.ts'
import { HEADS, type IncidentLine, incidentLines } from './timeline.ts'
import { markOf } from './words.ts'

const ICONS: Readonly<Record<IncidentLine['kind'], LucideIcon>> = {
  first_sign: Radar,
  opened: CircleAlert,
  joined: Plus,
  explained: Lightbulb,
  belongs: Network,
  merged: GitMerge,
  left: LogOut,
  escalated: ArrowUpRight,
  next_on_call: PhoneForwarded,
  notified: Send,
  sent: Send,
  suppressed: BellOff,
  acknowledged: Hand,
  unacknowledged: Hand,
  noted: MessageSquare,
  resolved: CircleCheck,
}

/** The incident's story, oldest first: first sign, opened, notified, taken, explained, ended. */
export function IncidentTimeline({ incident, zone }: { incident: IncidentDetail; zone: string | undefined }) {
  const now = useNow()
  return (
    <ol className={classes.timeline}>
      {incidentLines(incident).map(({ key, kind, at, actor, text, deliveries }) => {
        const Icon = ICONS[kind]
        const said = sentence(timesIn(text, (moment) => clockTime(moment, zone, now)))
        const head = HEADS[kind] ?? said
        return (
          <li key={key} data-tone={toneOf(kind, incident)}>
            <Icon size={16} strokeWidth={1.75} aria-hidden />
            <div className={classes.entry}>
              <p>
                <b>{head}</b>
                {actor !== null && ` by ${personName(actor)}`}
              </p>
              {said !== head && said !== '' && <p>{said}</p>}
              <p className={classes.muted}>
                {clockTime(Date.parse(at), zone, now)} ·{' '}
                <RelativeTime at={at} {...(zone === undefined ? {} : { zone })} />
              </p>
              {deliveries.length > 0 && (
                <ul className={classes.deliveries}>
                  {deliveries.map((delivery) => (
                    <DeliveryLine key={delivery.id} delivery={delivery} zone={zone} />
                  ))}
                </ul>
              )}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

/** The status that a line brought about. */
function toneOf(kind: IncidentLine['kind'], incident: IncidentDetail): string | undefined {
  switch (kind) {
    case 'first_sign':
    case 'opened':
      return markOf(incident)
    case 'escalated':
      return 'critical'
    case 'resolved':
      return 'ok'
    default:
      return undefined
  }
}
